// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// A signal that asks for an orderly end, and the same one again.
@Suite(.timeLimit(.minutes(2)))
struct RepeatedSignalTests {
  /// Starts a proxy with a client that keeps it from ending, sends it a signal as a test says, and tells its status and
  /// whether its socket's file is left.
  private func end(_ lines: String) async throws -> String {
    let folder = try ServerFixture.newFolder("signals")
    let script = """
      import os, socket, subprocess, sys, time
      path = sys.argv[2] + '/s'
      proxy = subprocess.Popen([sys.argv[1], 'proxy', '--listen', 'unix:' + path, '--drain', '60'], stderr=subprocess.PIPE)
      proxy.stderr.readline()
      client = socket.socket(socket.AF_UNIX)
      client.connect(path)
      client.sendall(b'GET /live HTTP/1.1\\r\\nHost: x\\r\\n\\r\\nGET')
      client.recv(1000)
      \(lines)
      print(proxy.wait(), os.path.exists(path))
      """
    let file = folder.appending(path: "end.py")
    try script.write(to: file, atomically: true, encoding: .utf8)
    let result = try await ServerFixture.run("python3", [file.path, Program.url.path, folder.path])
    return String(decoding: result.output, as: UTF8.self)
  }

  @Test func `one that comes twice at once, as timeout sends it, is one`() async throws {
    let lines = """
      begun = time.monotonic()
      while time.monotonic() < begun + 0.02: proxy.terminate()
      if time.monotonic() > begun + 0.1: print('late')
      client.close()
      """
    // Where the machine has stopped the sender in between, the last one came as one of its own.
    for _ in 0..<20 {
      let said = try await end(lines)
      guard said.hasPrefix("late") else { return #expect(said == "0 False\n") }
    }
    Issue.record("the signals never came together")
  }

  @Test func `a second one ends the process at once`() async throws {
    // Again and again: what comes together with the first does not count.
    #expect(try await end("while proxy.poll() is None: proxy.terminate()").hasPrefix("-15 "))
  }
}
