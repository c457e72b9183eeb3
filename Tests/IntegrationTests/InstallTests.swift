import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// `Scripts/install`, with a program of the test's own.
@Suite(.timeLimit(.minutes(1)))
struct InstallTests {
  private let folder: URL

  init() throws {
    folder = try ServerFixture.newFolder("install")
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    for path in ["Scripts", ".build/release"] {
      try FileManager.default.createDirectory(
        at: folder.appending(path: path), withIntermediateDirectories: true)
    }
    try FileManager.default.copyItem(
      at: root.appending(path: "Scripts/install"), to: folder.appending(path: "Scripts/install"))
    for name in ["dnsctl", "dnsctl-proxy"] {
      let program = folder.appending(path: ".build/release/\(name)").path
      try "#!/bin/sh\necho \"$2\"\n".write(toFile: program, atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
    }
  }

  private func install() async throws -> Int32 {
    let script = folder.appending(path: "Scripts/install").path
    return try await ServerFixture.run("bash", [script, prefix]).status
  }

  private var prefix: String { folder.appending(path: "usr").path }

  /// What stands there, links as such, and who may do what with it.
  private func kind(_ name: String) async throws -> String {
    let found = try await ServerFixture.run("stat", ["-c", "%F %a", "\(prefix)/\(name)"])
    return String(decoding: found.output, as: UTF8.self)
  }

  private func names(_ name: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: "\(prefix)/\(name)")
  }

  @Test func `the program and its completions come in place of older ones, and nothing else is left`() async throws {
    for _ in 0..<2 {
      #expect(try await install() == 0)
      #expect(try await kind("bin/dnsctl") == "regular file 755\n")
      #expect(try await kind("bin/dnsctl-proxy") == "regular file 755\n")
      for (folder, name) in [
        ("bash-completion/completions", "dnsctl"), ("zsh/site-functions", "_dnsctl"),
        ("fish/vendor_completions.d", "dnsctl.fish"),
      ] {
        #expect(try await kind("share/\(folder)/\(name)") == "regular file 644\n")
        #expect(try names("share/\(folder)") == [name])
      }
      #expect(try names("bin").sorted() == ["dnsctl", "dnsctl-proxy"])
      #expect(try String(contentsOfFile: "\(prefix)/share/zsh/site-functions/_dnsctl", encoding: .utf8) == "zsh\n")
    }
  }

  @Test func `what is no file is not replaced`() async throws {
    try FileManager.default.createDirectory(atPath: prefix + "/bin", withIntermediateDirectories: true)
    try "precious".write(toFile: prefix + "/bin/target", atomically: false, encoding: .utf8)
    #expect(unsafe symlink("target", prefix + "/bin/dnsctl") == 0)
    #expect(try await install() != 0)
    #expect(try await kind("bin/dnsctl").hasPrefix("symbolic link "))
    #expect(try String(contentsOfFile: prefix + "/bin/target", encoding: .utf8) == "precious")
    #expect(unsafe unlink(prefix + "/bin/dnsctl") == 0 && mkfifo(prefix + "/bin/dnsctl", 0o600) == 0)
    #expect(try await install() != 0)
    #expect(try await kind("bin/dnsctl").hasPrefix("fifo "))
  }
}
