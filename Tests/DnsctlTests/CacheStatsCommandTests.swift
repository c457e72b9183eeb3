// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import DirectDNS
@testable import DnsctlCommands

@Suite struct `dnsctl cache stats` {
  @Test func `counts by family, freshness and source`() async throws {
    let outcome = try await CacheFixture().run("stats")
    #expect(
      outcome.output == """
        store      memory
        answers    6
        families   A 5, AAAA 1
        freshness  fresh 2, due 1, grace 1, stale 1, gone 1
        negative   1
        sources    alidns 3, google 3
        oldest     2023-11-13T21:13:20Z (25 h ago)
        newest     2023-11-14T22:13:20Z (0 s ago)
        lines      397 B

        """)
    let json = try await CacheFixture().run("stats", "--format", "json").output
    #expect(
      json == """
        {"store":"memory","path":null,"answers":6,"families":{"A":5,"AAAA":1},"freshness":{"fresh":2,"due":1,"grace":1,"stale":1,"gone":1},"negative":1,"sources":{"alidns":3,"google":3},"oldest":1699910000000,"newest":1700000000000,"lineBytes":397,"fileBytes":null}

        """)
  }

  @Test func `counts the log of a file that a link leads to`() throws {
    let folder = try TestFolder()
    try FileManager.default.createDirectory(atPath: folder.path + "/real", withIntermediateDirectories: true)
    let (file, link) = (folder.path + "/real/answers.sqlite", folder.path + "/link.sqlite")
    #expect(databaseLength(file) == nil)
    try Data(repeating: 1, count: 100).write(to: URL(filePath: file))
    try Data(repeating: 1, count: 20).write(to: URL(filePath: file + "-wal"))
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
    #expect(databaseLength(file) == 120)
    #expect(databaseLength(link) == 120)
  }
}
