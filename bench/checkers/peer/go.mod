module holdfast/bench/checkers/peer

go 1.22

require github.com/anishathalye/porcupine v1.3.1
