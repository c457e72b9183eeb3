// SPDX-License-Identifier: Apache-2.0
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
    for path in ["Scripts", ".build/release", "Config"] {
      try FileManager.default.createDirectory(
        at: folder.appending(path: path), withIntermediateDirectories: true)
    }
    for path in ["Scripts/install", "Scripts/manual", "Config/dnsctl.example.json5"] {
      try FileManager.default.copyItem(at: root.appending(path: path), to: folder.appending(path: path))
    }
    for name in ["dnsctl", "dnsctl-proxy"] {
      let program = folder.appending(path: ".build/release/\(name)").path
      let help = #"{"command":{"commandName":"dnsctl","abstract":"Tests.","subcommands":[]}}"#
      let script = """
        #!/bin/sh
        case $1 in --experimental*) echo '\(help)' ;; --version) echo 1.2.3 ;; *) echo "$2" ;; esac

        """
      try script.write(toFile: program, atomically: false, encoding: .utf8)
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
    }
  }

  private func install(_ options: String...) async throws -> Int32 {
    let script = folder.appending(path: "Scripts/install").path
    return try await ServerFixture.run("bash", [script] + options + [prefix]).status
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
        ("fish/vendor_completions.d", "dnsctl.fish"), ("man/man1", "dnsctl.1"), ("man/man5", "dnsctl-config.5"),
      ] {
        #expect(try await kind("share/\(folder)/\(name)") == "regular file 644\n")
        #expect(try names("share/\(folder)") == [name])
      }
      #expect(try names("bin").sorted() == ["dnsctl", "dnsctl-proxy"])
      #expect(try String(contentsOfFile: "\(prefix)/share/zsh/site-functions/_dnsctl", encoding: .utf8) == "zsh\n")
    }
  }

  @Test func `what was installed is removed, and nothing else`() async throws {
    #expect(try await install() == 0)
    let others = ["bin/other", "bin/dnsctl2", "share/man/man1/other.1", "share/man/man1/dnsctl2.1"]
    for path in others { try "".write(toFile: "\(prefix)/\(path)", atomically: false, encoding: .utf8) }
    try "".write(toFile: "\(prefix)/share/man/man1/dnsctl-former.1", atomically: false, encoding: .utf8)
    for _ in 0..<2 { #expect(try await install("--remove") == 0) }
    let left = try #require(FileManager.default.enumerator(atPath: prefix)).compactMap { $0 as? String }
    #expect(left.filter { $0.contains("dnsctl") || $0.contains("other") }.sorted() == others.sorted())
  }

  @Test(arguments: ["usr", "--help"])
  func `a prefix that is no absolute path is refused`(prefix: String) async throws {
    let script = folder.appending(path: "Scripts/install").path
    let stage = folder.appending(path: "stage").path
    #expect(try await ServerFixture.run("bash", [script, prefix, stage]).status == 1)
    #expect(!FileManager.default.fileExists(atPath: stage + prefix))
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
