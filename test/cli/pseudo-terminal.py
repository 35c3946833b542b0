# Runs a program in a pseudo-terminal: python3 pseudo-terminal.py ROWS COLUMNS program argument...
# stdin: a JSON object a line, {"keys": text}, {"size": [rows, columns]} or {"signal": number}. stdout: what the program has written.
# stderr at the end: one JSON object, how the program ended and whether the mode of the terminal is what it was.

import fcntl, json, os, pty, select, struct, sys, termios


def resize(fd, rows, columns):
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


rows, columns, *command = sys.argv[1:]
master, slave = pty.openpty()
resize(slave, int(rows), int(columns))
before = termios.tcgetattr(slave)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in (0, 1, 2):
        os.dup2(slave, fd)
    os.closerange(3, 256)
    os.execvp(command[0], command)

waiting = b""
inputs = [master, 0]
while True:
    ready, _, _ = select.select(inputs, [], [], 0.05)
    if master in ready:
        os.write(1, os.read(master, 65536))
        continue
    if 0 in ready:
        piece = os.read(0, 65536)
        if piece == b"":
            inputs.remove(0)
            os.kill(pid, 9)
        *lines, waiting = (waiting + piece).split(b"\n")
        for line in map(json.loads, lines):
            if "keys" in line:
                os.write(master, line["keys"].encode())
            if "size" in line:
                resize(master, *line["size"])
            if "signal" in line:
                os.kill(pid, line["signal"])
        continue
    ended, status = os.waitpid(pid, os.WNOHANG)
    if ended == pid:
        break

after = termios.tcgetattr(slave)
code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
print(json.dumps({"code": code, "signal": signal, "hasModeBack": before == after}), file=sys.stderr)
