// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Who may connect to a Unix socket of the proxy's program.
@Suite(.timeLimit(.minutes(2)))
struct UnixSocketModeTests {
  @Test(arguments: [("077", "0o700", "PermissionError"), ("0", "0o777", "connected")])
  func `the umask makes the mode of a socket's file, by which it goes`(
    mask: String, mode: String, outcome: String
  ) async throws {
    // Only root can be another user.
    let script = """
      import os, shutil, signal, socket, subprocess, sys, tempfile
      signal.alarm(60)
      folder = tempfile.mkdtemp(dir='/tmp')
      os.chmod(folder, 0o755)
      path = folder + '/s'
      os.umask(int(sys.argv[2], 8))
      proxy = subprocess.Popen([sys.argv[1], 'proxy', '--listen', 'unix:' + path], stderr=subprocess.PIPE)
      proxy.stderr.readline()
      print(oct(os.stat(path).st_mode & 0o7777))
      if os.getuid() == 0: os.seteuid(65534)
      try: socket.socket(socket.AF_UNIX).connect(path); print('connected')
      except Exception as error: print(type(error).__name__)
      if os.getuid() == 0: os.seteuid(0)
      proxy.terminate()
      proxy.wait()
      shutil.rmtree(folder)
      """
    let file = try ServerFixture.newFolder("mode").appending(path: "mode.py")
    try script.write(to: file, atomically: true, encoding: .utf8)
    let result = try await ServerFixture.run(
      "sh", ["-c", "exec python3 \"$@\" 2>&1", "sh", file.path, Program.url.path, mask])
    let output = String(decoding: result.output, as: UTF8.self)
    #expect(output == "\(mode)\n\(getuid() == 0 ? outcome : "connected")\n")
  }
}
