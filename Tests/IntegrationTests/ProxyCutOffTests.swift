// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// What clients see of a proxy that is told twice to end.
@Suite(.timeLimit(.minutes(2)))
struct ProxyCutOffTests {
  @Test(arguments: ["TERM", "INT", "HUP"])
  func `what a second signal cuts off does not look complete, and is in the log`(name: String) async throws {
    let script = """
      import json, pty, signal, socket, subprocess, sys
      signal.alarm(60)
      number = getattr(signal, 'SIG' + sys.argv[2])
      origin = socket.create_server(('127.0.0.1', 0))
      target = '127.0.0.1:%d' % origin.getsockname()[1]
      options = '--listen 127.0.0.1:0 --no-system --allow 127.0.0.0/8 --drain 60 --access-log json'
      # Elsewhere SIGHUP has it read its files again.
      terminal = pty.openpty() if number == signal.SIGHUP else (None, None)
      proxy = subprocess.Popen([sys.argv[1], 'proxy'] + options.split(), stdin=terminal[1], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
      port = int(proxy.stderr.readline().decode().rsplit(':', 1)[1])

      def ask(line, answer, end):
        client = socket.create_connection(('127.0.0.1', port))
        client.sendall((line + ' HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n').encode())
        server = origin.accept()[0]
        server.sendall(answer)
        seen = b''
        while not seen.endswith(end): seen += client.recv(1000)
        return client, server

      # A response that ends with its connection, and a tunnel.
      client, _ = ask('GET http://%s/' % target, b'HTTP/1.1 200 OK\\r\\n\\r\\nhalf', b'half')
      tunnel = ask('CONNECT ' + target, b'half', b'half')

      def ending(connection):
        try:
          while connection.recv(1000): pass
          return 'end'
        except ConnectionResetError: return 'reset'

      proxy.send_signal(number)
      # What comes together with the first does not count.
      for patience in 1, 20, 20:
        try: proxy.wait(patience)
        except subprocess.TimeoutExpired: proxy.send_signal(number)
        else: break
      errors = [json.loads(line)['error'] for line in proxy.stdout]
      print(number + proxy.returncode, ending(client), *map(ending, tunnel), *errors)
      """
    let file = try ServerFixture.newFolder("cut-off").appending(path: "end.py")
    try script.write(to: file, atomically: true, encoding: .utf8)
    let result = try await ServerFixture.run(
      "sh", ["-c", "exec python3 \"$@\" 2>&1", "sh", file.path, Program.url.path, name])
    let output = String(decoding: result.output, as: UTF8.self)
    #expect(output == "0 reset reset reset connection_terminated connection_terminated\n")
  }
}
