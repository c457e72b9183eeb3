// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// What `dnsctl exec` is to whoever started it, and to the program: a process among others.
@Suite(.timeLimit(.minutes(2)))
struct ExecProcessTests {
  /// Runs a script of Python, whose first argument is dnsctl; nobody waits for it longer than a minute.
  private func python(_ script: String, _ arguments: [String] = []) async throws -> String {
    let file = try ServerFixture.newFolder("process").appending(path: "script.py")
    // A run in a shell's background ignores the keys' signals, and what it starts would as well.
    let start = """
      import os, signal, subprocess, sys
      signal.alarm(60)
      for number in signal.SIGINT, signal.SIGQUIT: signal.signal(number, signal.SIG_DFL)

      """
    try (start + script).write(
      to: file, atomically: true, encoding: .utf8)
    let result = try await ServerFixture.run(
      "sh", ["-c", "exec python3 \"$@\" 2>&1", "sh", file.path, Program.url.path] + arguments)
    return String(decoding: result.output, as: UTF8.self)
  }

  @Test(arguments: [("exit 3", "3"), ("kill -9 $$", "137")])
  func `the status is the program's, also where whoever started it ignores the ends of children`(
    script: String, status: String
  ) async throws {
    let output = try await python(
      """
      ignore = lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)
      print(subprocess.run([sys.argv[1], 'exec', '--no-system', '--', 'sh', '-c', sys.argv[2]], preexec_fn=ignore).returncode)
      """, [script])
    #expect(output == "\(status)\n")
  }

  @Test(arguments: [("SIG_IGN", "0:goes on"), ("SIG_DFL", "141:")])
  func `a broken pipe is to the program what it is to whoever started it, as a service of systemd, too`(
    action: String, expected: String
  ) async throws {
    let output = try await python(
      """
      def prepare(): signal.signal(signal.SIGPIPE, getattr(signal, sys.argv[2]))
      for variable in '', 'export WATCHDOG_PID=$$; ':
        start = variable + 'exec "$0" exec --no-system -- sh -c "$1"'
        words = ['sh', '-c', start, sys.argv[1], 'kill -PIPE $$; echo goes on']
        result = subprocess.run(words, preexec_fn=prepare, stdout=subprocess.PIPE)
        print(result.returncode, result.stdout.decode().strip(), sep=':')
      """, [action])
    #expect(output == "\(expected)\n\(expected)\n")
  }

  @Test func `every signal goes to the program but those of faults, of our own and those that nobody can catch`()
    async throws
  {
    let output = try await python(
      """
      import select
      child = '''
      import signal
      every = signal.valid_signals()
      signal.pthread_sigmask(signal.SIG_BLOCK, every)
      print('ready', flush=True)
      while True: print(signal.sigtimedwait(every, 60).si_signo, flush=True)
      '''
      kept = [getattr(signal, 'SIG' + name) for name in 'KILL STOP CHLD PIPE XFSZ ILL TRAP BUS FPE SEGV SYS'.split()]
      command = [sys.argv[1], 'exec', '--no-system', '--', sys.executable, '-c', child]
      process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
      process.stdout.readline()
      lost, count = [], 0
      for number in sorted(set(signal.valid_signals()) - set(kept)):
        count += 1
        process.send_signal(number)
        ready = select.select([process.stdout], [], [], 10)[0]
        if not ready or process.stdout.readline() != b'%d\\n' % number: lost.append(number)
      print(count > 40, lost)
      os.killpg(process.pid, signal.SIGKILL)
      """)
    #expect(output == "True []\n")
  }

  @Test func `a second signal ends it at once while it stores answers behind the program's end`() async throws {
    // Another process writes to the store, and does not finish: that is waited for.
    let script = """
      import http.server, json, sqlite3, threading
      class Provider(http.server.BaseHTTPRequestHandler):
        def log_message(self, *words): pass
        def do_GET(self):
          name = self.path.split('name=')[1].split('&')[0]
          body = json.dumps({
            'Status': 0, 'TC': False, 'Question': [{'name': name, 'type': 1}],
            'Answer': [{'name': name, 'type': 1, 'TTL': 60, 'data': '127.0.0.1'}]}).encode()
          self.send_response(200)
          self.send_header('Content-Type', 'application/json')
          self.send_header('Content-Length', str(len(body)))
          self.end_headers()
          self.wfile.write(body)
      provider = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Provider)
      threading.Thread(target=provider.serve_forever, daemon=True).start()
      path = sys.path[0] + '/answers.sqlite'
      child = '''
      import os, sys, urllib.request
      try: urllib.request.urlopen(sys.argv[1])
      except OSError: print(os.getpid(), flush=True)
      '''
      def start(name):
        url = 'json+http://127.0.0.1:%d/resolve' % provider.server_port
        options = ['--no-system', '--family', 'ipv4', '--provider', url, '--store', 'sqlite:' + path]
        program = [sys.executable, '-c', child, 'http://' + name]
        return subprocess.Popen([sys.argv[1], 'exec'] + options + ['--'] + program, stdout=subprocess.PIPE)
      # Makes the store.
      print(start('one.example').wait())
      store = sqlite3.connect(path, isolation_level=None)
      store.execute('BEGIN IMMEDIATE')
      process = start('two.example')
      program = int(process.stdout.readline())
      while os.path.exists('/proc/%d' % program): pass
      while process.poll() is None: process.terminate()
      print(process.returncode)
      """
    // Where the machine has held it up for longer than the store is waited for, it has ended in order.
    for _ in 0..<20 {
      let said = try await python(script)
      guard said.hasSuffix("\n0\n") else { return #expect(said == "0\n-15\n") }
    }
    Issue.record("a second signal has never ended it")
  }

  @Test(arguments: ["foreground", "background"])
  func `a job stops and goes on as a whole, as its shell wants it`(place: String) async throws {
    let output = try await python(
      """
      import pty
      pid, master = pty.fork()
      if pid == 0:
        # As a shell with job control.
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        job = os.fork()
        if job == 0:
          os.setpgid(0, 0)
          if sys.argv[2] == 'foreground': os.tcsetpgrp(0, os.getpgrp())
          signal.signal(signal.SIGTTOU, signal.SIG_DFL)
          program = 'import sys; print("begun", flush=True); print("got", sys.stdin.readline())'
          os.execv(sys.argv[1], [sys.argv[1], 'exec', '--no-system', '--', sys.executable, '-c', program])
        status = os.waitpid(job, os.WUNTRACED)[1]
        print('stopped' if os.WIFSTOPPED(status) else status, flush=True)
        os.tcsetpgrp(0, job)
        os.killpg(job, signal.SIGCONT)
        print('ended with %d!' % os.waitpid(job, os.WUNTRACED)[1], flush=True)
        os._exit(0)
      seen = b''
      def until(text):
        global seen
        while text not in seen: seen += os.read(master, 1000)
      until(b'begun')
      if sys.argv[2] == 'foreground': os.write(master, b'\\x1a')
      until(b'stopped')
      os.write(master, b'line\\n')
      until(b'!')
      print(seen.decode())
      """, [place])
    #expect(output.contains("stopped") && output.contains("ended with 0!"), "\(output)")
    #expect(output.contains("got line"), "\(output)")
  }

  @Test func `what is pressed at a terminal comes to a program once, whatever its standard input is`() async throws {
    // The kernel sends it to the whole foreground. What comes by way of dnsctl as well has come when SIGUSR1 has come
    // that way twice.
    let program = """
      import os, signal
      reading, writing = os.pipe()
      os.set_blocking(writing, False)
      signal.set_wakeup_fd(writing)
      for number in signal.SIGINT, signal.SIGUSR1: signal.signal(number, lambda *_: None)
      print('ready', flush=True)
      seen = os.read(reading, 9)
      for round in 1, 2:
        os.kill(os.getppid(), signal.SIGUSR1)
        while seen.count(signal.SIGUSR1) < round: seen += os.read(reading, 9)
      print(seen.count(signal.SIGINT), 'interrupt')
      """
    let output = try await python(
      """
      import pty
      pid, master = pty.fork()
      if pid == 0:
        # Whoever started the tests may ignore it, as a shell does for what runs in the background.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        command = 'trap : INT; echo | "$0" exec --no-system -- "$1" -c "$2"'
        os.execvp('sh', ['sh', '-c', command, sys.argv[1], sys.executable, sys.argv[2]])
      seen = b''
      def until(text):
        global seen
        while text not in seen: seen += os.read(master, 1000)
      until(b'ready')
      os.write(master, b'\\x03')
      until(b'interrupt')
      print(seen.decode())
      """, [program])
    #expect(output.contains("1 interrupt"), "\(output)")
  }

  private static let hasNamespaces: Bool = {
    let probe = Process()
    probe.executableURL = URL(filePath: "/bin/sh")
    probe.arguments = ["-c", "unshare -pf --mount-proc true >/dev/null 2>&1"]
    guard (try? probe.run()) != nil else { return false }
    probe.waitUntilExit()
    return probe.terminationStatus == 0
  }()

  @Test(.enabled(if: hasNamespaces, "no process may be the first one here"))
  func `as the first process of a container it lets go what others have left`() async throws {
    // Each has lost its parent when it ends. A zombie that is still there after half a minute is not let go.
    let script = """
      count=0; while [ $count -lt 20 ]; do (true &); count=$((count + 1)); done
      dead() { grep -hs '^State:.Z' /proc/[0-9]*/status | wc -l; }
      tries=0; while [ $(dead) -gt 0 ] && [ $tries -lt 300 ]; do tries=$((tries + 1)); sleep 0.1; done
      dead; exit 7
      """
    let words = ["-pf", "--mount-proc", Program.url.path, "exec", "--no-system", "--", "sh", "-c", script]
    let result = try await ServerFixture.run("unshare", words)
    let output = String(decoding: result.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    #expect(result.status == 7 && output == "0", "\(result.status): \(output)")
  }

  @Test(
    arguments: [
      (
        ["sh", "-c", "echo $((LISTEN_PID - $$)) $((WATCHDOG_PID - $$)) $LISTEN_FDS ${LISTEN_PIDFDID-}; exit 7"],
        "0 0 1", 7
      ),
      (["printenv", "odd"], "b=\\", 0), (["no-such-program"], "dnsctl: the program no-such-program was not found", 127),
      (["/"], "dnsctl: / cannot be run: Permission denied", 126),
    ] as [([String], String, Int32)])
  func `what systemd means for the process of the service is meant for the program`(
    words: [String], said: String, status: Int32
  ) async throws {
    let script = """
      export LISTEN_PID=$$ WATCHDOG_PID=$$ LISTEN_FDS=1 LISTEN_PIDFDID=5 odd='b=\\'
      exec "$0" exec --no-system -- "$@" 2>&1
      """
    let result = try await ServerFixture.run("sh", ["-c", script, Program.url.path] + words)
    let output = String(decoding: result.output, as: UTF8.self)
    #expect(result.status == status && output.hasPrefix(said), "\(result.status): \(output)")
  }
}
