// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Files that are mounted by themselves, as single files of the host are in containers.
@Suite(.timeLimit(.minutes(1)))
struct MountedFileTests {
  private static let canMount: Bool = {
    let probe = Process()
    probe.executableURL = URL(filePath: "/bin/sh")
    probe.arguments = ["-c", "unshare --mount mount --bind /dev/null /dev/null >/dev/null 2>&1"]
    guard (try? probe.run()) != nil else { return false }
    probe.waitUntilExit()
    return probe.terminationStatus == 0
  }()

  @Test(
    .enabled(if: canMount, "nothing may be mounted here"),
    arguments: [("-o", "body\n"), ("-c", "a\tb\n")])
  func `one is written in place, since no other file can take its place`(option: String, end: String) async throws {
    let script = """
      import http.server, os, signal, subprocess, sys, threading
      signal.alarm(30)
      class Origin(http.server.BaseHTTPRequestHandler):
        def log_message(self, *words): pass
        def do_GET(self):
          self.send_response(200)
          self.send_header('Set-Cookie', 'a=b; Max-Age=60')
          self.send_header('Content-Length', '5')
          self.end_headers()
          self.wfile.write(b'body\\n')
      origin = http.server.HTTPServer(('127.0.0.1', 0), Origin)
      threading.Thread(target=origin.serve_forever, daemon=True).start()
      os.chdir(sys.path[0])
      for name in 'host', 'mounted': open(name, 'w').close()
      subprocess.run(['mount', '--bind', 'host', 'mounted'], check=True)
      url = 'http://127.0.0.1:%d/' % origin.server_port
      subprocess.run([sys.argv[1], 'fetch', '--allow', '127.0.0.0/8', sys.argv[2], 'mounted', url], stdout=2, check=True)
      print(open('host').read(), end='')
      """
    let file = try ServerFixture.newFolder("mounted").appending(path: "mounted.py")
    try script.write(to: file, atomically: true, encoding: .utf8)
    let result = try await ServerFixture.run(
      "unshare", ["--mount", "python3", file.path, Program.url.path, option])
    let output = String(decoding: result.output, as: UTF8.self)
    #expect(result.status == 0 && output.hasSuffix(end), "\(result.status): \(output)")
    // No draft is left beside it.
    let names = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
    #expect(Set(names) == ["mounted.py", "host", "mounted"])
  }
}
