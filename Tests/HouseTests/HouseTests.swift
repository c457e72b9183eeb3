// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// The rules over the project's own sources.
///
/// Folders of one target are not walled off by the compiler; this is the wall.
@Suite("The house")
struct HouseTests {
  /// Read once: every test asks the same text.
  private static let read = Result {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try SourceTree(root: root, folders: ["Sources"], pathsOnly: ["Tests"])
  }

  let tree: SourceTree

  init() throws {
    tree = try Self.read.get()
  }

  /// Files without a test file of their own, each with the reason.
  static let testedElsewhere: [String: String] = [
    // Values that say no more than they are.
    "Sources/DirectDNS/Pool/TransferTerms.swift": "TransferStateTests, PoolMachineTests",
    "Sources/DirectDNS/Cookies/CookieJarConfiguration.swift": "CookieJarTests, CookieStoreTests",
    // What two others read or write with, whose tests hold it.
    "Sources/DirectDNS/Providers/JSONReply.swift": "DNSJSONTests",
    "Sources/DirectDNS/Model/JSONString.swift":
      "OutputTests, OutsideTextTests and ProxyRefusalTests, of those who write it",
    // Parts of one type in a file of their own: the type's tests hold them.
    "Sources/DirectDNS/Client/DirectClient+Lookup.swift": "LateFamilyTests, HappyEyeballsTests",
    "Sources/DirectDNS/Client/DirectClient+Sending.swift": "DirectClientTests, DirectClientFailureTests",
    "Sources/DirectDNS/Client/RequestContext.swift": "DirectClientFailureTests",
    // A transfer's parts need a server and a loop: the client's tests drive them.
    "Sources/DirectDNS/Curl/CurlQuery.swift": "LoopTests",
    "Sources/DirectDNS/Curl/CurlProbe.swift": "ProviderProbeTests, SystemPackagesTests",
    "Sources/DirectDNS/Curl/ConnectAttempt+Callbacks.swift": "RequestBodyTests, ResponseBodyTests",
    "Sources/DirectDNS/Curl/ConnectAttempt+Options.swift": "ClientConnectionsTests",
    "Sources/DirectDNS/Curl/ConnectAttempt+Progress.swift": "RequestBodyTests, BrokenOriginTests",
    "Sources/DirectDNS/Curl/CurlTransfer.swift": "ResponseBodyTests",
    "Sources/DirectDNS/Curl/CurlTransfers.swift": "ClientConnectionsTests",
    "Sources/DirectDNS/Curl/CurlQueries+Pool.swift": "CurlQueriesTests, CurlQueriesConnectingTests",
    "Sources/DirectDNS/Curl/CurlTransfers+Actions.swift": "ClientConnectionsTests, RequestBodyTests",
    "Sources/DirectDNS/Curl/PendingDeliveries.swift": "ResponseBodyTests, LoadTests",
    "Sources/DirectDNS/Pool/PoolMachine+Queue.swift": "PoolMachineTests, PoolSimulationTests",
    "Sources/DirectDNS/Curl/BodyUpload.swift": "RequestBodyTests",
    "Sources/DirectDNS/Stores/AnswerStore.swift": "MemoryAnswerStoreTests, by the contract of all stores",
    "Sources/DirectDNS/Cache/AnswerCache+Writing.swift": "AnswerCacheTests",
    "Sources/DirectDNS/Cache/AnswerTable+LockedReading.swift": "AnswerTableTests",
    "Sources/DirectDNS/Pool/TransferState+Ending.swift": "TransferStateTests, RetryRuleTests",
    "Sources/DirectDNS/Resolver/LookupRunner.swift": "DirectResolverTests, DirectResolver+AskingTests",
    "Sources/DirectDNS/Resolver/QuerySender.swift": "QueryMachineTests, BootstrapTests",
    "Sources/DirectDNS/Files/FileFailure.swift": "PathTargetTests, WritableFileTests",
    "Sources/DirectDNS/Model/IPAddress+Text.swift": "IPAddressTests",
    "Sources/DirectDNS/Model/LegacyIPv4.swift": "WebURLHostTests",
    "Sources/DirectDNS/Model/WebURLParser.swift": "WebURLTests",
    "Sources/DirectDNS/Telemetry/MetricDescription.swift": "MetricTableTests, which need the client too",
    "Sources/DirectDNS/Warmup/WarmupJob+Ending.swift": "WarmupJobTests",
    "Sources/DirectDNS/Warmup/WarmupJob+Looking.swift": "WarmupJobTests",
    "Sources/DirectDNS/Rewriting/DirectRequest.swift": "RequestRewriterTests",
  ]

  @Test func `the sources are found`() {
    #expect(!tree.files(under: "Sources/DirectDNS/Model/").isEmpty)
  }

  @Test func `every file of the library stands on a floor of the house`() {
    #expect(HouseRules.filesWithoutFloor(in: tree) == [])
  }

  @Test func `a floor names no type of a floor below it or of the other wing`() {
    #expect(HouseRules.namesFromClosedFloors(in: tree) == [])
  }

  @Test func `each C library is imported in one place`() {
    #expect(HouseRules.straySystemImports(in: tree) == [])
  }

  @Test func `unsafe code stands only where C or raw memory is at hand`() {
    #expect(HouseRules.strayUnsafe(in: tree) == [])
  }

  @Test func `what can end the process or blind the compiler is rare and explained`() {
    #expect(HouseRules.strayHazards(in: tree) == [])
  }

  @Test func `what waits leaves nothing behind when it is cancelled`() {
    #expect(HouseRules.straySleeps(in: tree) == [])
  }

  @Test func `the library and the command line stay free of heavy imports`() {
    #expect(HouseRules.heavyImports(in: tree) == [])
  }

  @Test func `no file is named like a drawer`() {
    #expect(HouseRules.drawerNames(in: tree) == [])
  }

  @Test func `every file of the library has its tests in the same place`() {
    #expect(HouseRules.untestedFiles(in: tree, exempt: Set(Self.testedElsewhere.keys)) == [])
    #expect(HouseRules.idleExemptions(in: tree, exempt: Set(Self.testedElsewhere.keys)) == [])
  }
}
