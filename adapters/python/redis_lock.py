#!/usr/bin/env python3
"""A complete adapter: SET NX PX and a compare-and-delete script, over a plain socket to Redis."""
import json, socket, sys, uuid

RELEASE = "if redis.call('GET',KEYS[1])==ARGV[1] then return redis.call('DEL',KEYS[1]) else return 0 end"
ME = uuid.uuid4().hex  # not the process id: every node counts its own from 1
where, links = {}, {}  # addresses; open connections


def link(name):
    if name not in links:
        host, port = where[name].rsplit(":", 1)
        connection = socket.create_connection((host, int(port)), timeout=2)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        links[name] = connection.makefile("rwb")
    return links[name]


def ask(name, data):
    link(name).write(data)
    link(name).flush()
    return link(name).readline()


def redis(*words):
    words = [str(word).encode() for word in words]
    reply = ask("server", b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
    if not reply.endswith(b"\r\n") or reply.startswith(b"-"):
        raise OSError(reply.decode().strip() or "connection lost")
    return reply.decode().strip()  # none of our commands is answered with more than one line


def serve(f, key, value, line):
    if f == "open":
        if value["protocol"] != 1:
            return {"type": "fail", "error": "protocol %s is not supported" % value["protocol"]}
        try:
            where.update(server=value["servers"][0], resource=value["resource"])
            link("server")
        except (OSError, IndexError) as error:  # nothing was asked of the server yet: a definite failure
            return {"type": "fail", "error": "connect: %s" % error}
        return {"type": "ok", "value": {"protocol": 1, "name": "python-redis-lock"}}
    if f in ("read", "write"):
        return json.loads(ask("resource", line))
    if f == "acquire":
        granted = redis("SET", key, "%s:%s" % (ME, value["hold"]), "NX", "PX", value["lease_ms"]) == "+OK"
        return {"type": "ok"} if granted else {"type": "fail", "error": "held"}
    if f == "release":
        freed = redis("EVAL", RELEASE, 1, key, "%s:%s" % (ME, value["hold"])) == ":1"
        return {"type": "ok"} if freed else {"type": "fail", "error": "not-held"}
    return {"type": "fail", "error": "unsupported: " + f}


for line in sys.stdin.buffer:
    try:
        request = json.loads(line)
    except ValueError:
        sys.exit(3)
    try:
        answer = serve(request["f"], request.get("key"), request.get("value"), line)
    except Exception as error:  # nobody knows whether it took effect, and a late answer must not meet the next request
        links.clear()
        answer = {"type": "info", "error": repr(error)}
    print(json.dumps({**answer, "id": request["id"]}), flush=True)
