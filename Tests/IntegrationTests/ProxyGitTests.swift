// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// git through `dnsctl exec`.
@Suite(
  "git through the proxy", .enabled(if: WebKind.missing.isEmpty, "not every program is installed"),
  .enabled(if: ServerFixture.path(of: "git") != nil, "there is no git here"), .timeLimit(.minutes(2)))
struct ProxyGitTests {
  @Test func `git clones by https`() async throws {
    try await ProxyProgramFixture.running { fixture in
      let (work, copy) = (fixture.place, fixture.place)
      let bare = fixture.site.site.folder.appending(path: "\(LabSite.www)/repository.git")
      // As any file of the site: no git runs on the server (gitprotocol-http(5), the dumb way).
      let made = try await fixture.run([
        "sh", "-ec",
        """
        git init -q "$1"; cd "$1"
        openssl rand -out file 300000; git add file
        git -c user.name=Ada -c user.email=ada@lab.test commit -q -m first
        git clone -q --bare . "$2"; git -C "$2" update-server-info
        """, "sh", work.path, bare.path,
      ])
      #expect(made.status == 0, "\(made)")
      let cloned = try await fixture.exec([
        "git", "-c", "http.sslCAInfo=\(fixture.site.caFile)", "clone", "-q",
        "\(fixture.secure)/repository.git", copy.path,
      ])
      #expect(cloned.status == 0, "\(cloned)")
      #expect(try await fixture.digests([work, copy].map { $0.appending(path: "file") }).count == 1)
      let refused = try await fixture.exec(["git", "clone", "-q", "https://\(ProxyProgramFixture.inside):8443/x.git"])
      #expect(refused.status == 128 && refused.output.contains("403"), "\(refused)")
    }
  }

  @Test func `git pushes a large file by http, and clones it by https`() async throws {
    // Its server is written with it.
    if let missing = await ProxyClient.aiohttp.missing { try Test.cancel("\(missing)") }
    try await ProxyProgramFixture.running { fixture in
      let (work, copy, file) = (fixture.place, fixture.place, try await fixture.file(ProxyProgramFixture.largeFile))
      let folder = try ServerFixture.newFolder("repositories")
      let made = try await fixture.run([
        "sh", "-ec",
        """
        git init -q --bare -b main "$2/large.git"
        git init -q -b main "$1"; cd "$1"
        mv "$3" file; git -c core.compression=0 add file
        git -c user.name=Ada -c user.email=ada@lab.test commit -q -m first
        """, "sh", work.path, folder.path, file.path,
      ])
      #expect(made.status == 0, "\(made)")
      try await fixture.withServer("repository.py", [folder.path]) { ports, certificate in
        // What is longer than http.postBuffer goes in chunks.
        let pushed = try await fixture.exec([
          "git", "-C", work.path, "-c", "core.compression=0", "push", "-q", "http://doh.lab.test:\(ports[0])/large.git",
          "main",
        ])
        #expect(pushed.status == 0, "\(pushed)")
        let cloned = try await fixture.exec([
          "git", "-c", "http.sslCAInfo=\(certificate.caFile)", "clone", "-q",
          "https://doh.lab.test:\(ports[1])/large.git", copy.path,
        ])
        #expect(cloned.status == 0, "\(cloned)")
      }
      #expect(try await fixture.digests([work, copy].map { $0.appending(path: "file") }).count == 1)
      // A machine's temporary files may lie in its memory.
      for place in [work, copy, folder] { try FileManager.default.removeItem(at: place) }
    }
  }
}
