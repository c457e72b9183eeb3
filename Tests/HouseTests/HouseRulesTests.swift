// SPDX-License-Identifier: Apache-2.0
import Testing

/// A rule that cannot fail is no rule: each is shown a made-up house that breaks it, and one that does not.
@Suite("The house's rules")
struct HouseRulesTests {
  // MARK: Floors

  @Test func `a floor may name the types of the floors above it`() {
    let tree = SourceTree([
      "Sources/DirectDNS/Model/HostName.swift": "public struct HostName {}",
      "Sources/DirectDNS/Cache/AnswerCache.swift": "final class AnswerCache { var names: [HostName] = [] }",
    ])
    #expect(HouseRules.namesFromClosedFloors(in: tree) == [])
  }

  @Test(arguments: [
    "struct", "class", "final class", "enum", "indirect enum", "protocol", "actor", "public struct",
  ])
  func `a floor may not name a type of a floor below it, whatever kind it is`(kind: String) {
    let tree = SourceTree([
      "Sources/DirectDNS/Model/HostName.swift": "struct HostName {\n  var cache: AnswerCache?\n}",
      "Sources/DirectDNS/Cache/AnswerCache.swift": "\(kind) AnswerCache {}",
    ])
    #expect(
      HouseRules.namesFromClosedFloors(in: tree)
        == ["Sources/DirectDNS/Model/HostName.swift:2: AnswerCache of Cache/"])
  }

  @Test func `a type alias counts as a type`() {
    let tree = SourceTree([
      "Sources/DirectDNS/Model/A.swift": "let x: Reply? = nil",
      "Sources/DirectDNS/HTTP/B.swift": "typealias Reply = Int",
    ])
    #expect(HouseRules.namesFromClosedFloors(in: tree).count == 1)
  }

  @Test(
    arguments: [
      ("Policy", "Resolver"), ("Resolver", "Policy"), ("Rewriting", "Cookies"), ("Cookies", "Policy"),
      ("Policy", "Concurrency"), ("Curl", "Cares"), ("Warmup", "Rewriting"), ("Concurrency", "Curl"),
      ("Warmup", "Client"),
    ])
  func `the wings do not know each other, nor do neighbours`(floor: String, other: String) {
    let tree = SourceTree([
      "Sources/DirectDNS/\(floor)/A.swift": "let thing = Thing()",
      "Sources/DirectDNS/\(other)/Thing.swift": "struct Thing {}",
    ])
    #expect(HouseRules.namesFromClosedFloors(in: tree).count == 1)
  }

  @Test(arguments: ["Policy", "Rewriting", "Resolver", "Curl", "Warmup"])
  func `the wings meet in the client`(other: String) {
    let tree = SourceTree([
      "Sources/DirectDNS/Client/A.swift": "let thing = Thing()",
      "Sources/DirectDNS/\(other)/Thing.swift": "struct Thing {}",
    ])
    #expect(HouseRules.namesFromClosedFloors(in: tree) == [])
  }

  @Test(
    arguments: [
      "// AnswerCache", "/// See AnswerCache.", "/* AnswerCache /* AnswerCache */ AnswerCache */",
      "let text = \"AnswerCache\"", "let text = #\"AnswerCache \"AnswerCache\" \\(AnswerCache)\"#",
      "let text = \"\"\"\n  AnswerCache \"AnswerCache\"\n  \"\"\"", "let x = Other.AnswerCache",
      "struct AnswerCache {}", "struct Own { enum AnswerCache {} }\nlet x: AnswerCache",
      "let AnswerCaches = 1",
      "func `an AnswerCache answers`() {}",
    ])
  func `words that are not a name of that type are no offence`(text: String) {
    let tree = SourceTree([
      "Sources/DirectDNS/Model/A.swift": text,
      "Sources/DirectDNS/Cache/AnswerCache.swift": "struct AnswerCache {}",
    ])
    #expect(HouseRules.namesFromClosedFloors(in: tree) == [])
  }

  @Test(
    arguments: [
      "let text = \"a \\(AnswerCache.self) b\"", "let text = \"\\(f(\"x\", (AnswerCache())))\"",
      "let text = #\"\\#(AnswerCache())\"#", "let url = \"https://a\"; let x = AnswerCache()",
      "/* a */ let x = AnswerCache()", "let x = `AnswerCache`()", "let a = \"\\\"\"; let x = AnswerCache()",
      "extension AnswerCache {}",
    ])
  func `a name is found behind and inside literals and comments`(text: String) {
    let tree = SourceTree([
      "Sources/DirectDNS/Model/A.swift": text,
      "Sources/DirectDNS/Cache/AnswerCache.swift": "struct AnswerCache {}",
    ])
    #expect(HouseRules.namesFromClosedFloors(in: tree).count == 1)
  }

  @Test func `a private or nested type of a lower floor takes no name away`() {
    let tree = SourceTree([
      "Sources/DirectDNS/Model/A.swift": "struct A { var state: State; var step: Step }",
      "Sources/DirectDNS/Cache/B.swift": "private final class State {}\nstruct B { struct Step {} }",
    ])
    #expect(HouseRules.namesFromClosedFloors(in: tree) == [])
  }

  @Test func `a file outside the known folders has no floor`() {
    let tree = SourceTree([
      "Sources/DirectDNS/Model/A.swift": "", "Sources/DirectDNS/B.swift": "",
      "Sources/DirectDNS/Misc/C.swift": "",
      "Sources/dnsctl/D.swift": "",
    ])
    #expect(
      HouseRules.filesWithoutFloor(in: tree) == [
        "Sources/DirectDNS/B.swift", "Sources/DirectDNS/Misc/C.swift",
      ])
  }

  // MARK: C and unsafe code

  @Test(
    arguments: [
      ("CDirectDNSCurl", "Cares/A"), ("CDirectDNSCares", "Curl/A"), ("CDirectDNSIDN", "Model/HostName"),
      ("CDirectDNSPSL", "Cookies/CookieJar"), ("CDirectDNSSQLite", "Stores/AnswerStore"),
      ("CDirectDNSHiredis", "Stores/AnswerStore"), ("CDirectDNSClock", "Cache/AnswerCache"),
      ("CDirectDNSWithoutRow", "Curl/A"),
    ])
  func `a C module is imported in its own place alone`(module: String, file: String) {
    for line in ["import \(module)", "internal import \(module)", "import struct \(module).Thing"] {
      let tree = SourceTree(["Sources/DirectDNS/\(file).swift": "// Why.\n\(line)"])
      #expect(
        HouseRules.straySystemImports(in: tree) == ["Sources/DirectDNS/\(file).swift:2: import \(module)"])
    }
    #expect(
      HouseRules.straySystemImports(in: SourceTree(["Sources/dnsctl/A.swift": "import \(module)"])).count == 1
    )
  }

  @Test func `a C module may be imported where it belongs`() {
    let tree = SourceTree([
      "Sources/DirectDNS/Curl/QueryHandle.swift": "internal import CDirectDNSCurl",
      "Sources/DirectDNS/Cares/CaresLookup.swift": "internal import CDirectDNSCares",
      "Sources/DirectDNS/Model/IDNA.swift": "internal import CDirectDNSIDN",
      "Sources/DirectDNS/Cookies/PublicSuffix.swift": "internal import CDirectDNSPSL",
      "Sources/DirectDNSSQLite/SQLiteConnection.swift": "internal import CDirectDNSSQLite",
      "Sources/DirectDNSRedis/RedisConnection.swift": "internal import CDirectDNSHiredis",
      "Sources/DirectDNS/Model/HostName.swift": "// import CDirectDNSIDN",
    ])
    #expect(HouseRules.straySystemImports(in: tree) == [])
  }

  @Test(arguments: [
    "let x = unsafe f()", "@unsafe func f() {}", "nonisolated(unsafe) var x = 1", "f(\"\\(unsafe g())\")",
  ])
  func `unsafe code outside its places is found`(text: String) {
    #expect(HouseRules.strayUnsafe(in: SourceTree(["Sources/DirectDNS/Model/A.swift": text])).count == 1)
    for target in ["DirectDNSSQLite", "DirectDNSFoundation", "DirectDNSAsyncHTTPClient", "DirectDNSConfigReader"] {
      #expect(HouseRules.strayUnsafe(in: SourceTree(["Sources/\(target)/A.swift": text])).count == 1)
    }
    #expect(HouseRules.strayUnsafe(in: SourceTree(["Sources/DirectDNS/Curl/A.swift": text])) == [])
  }

  @Test(arguments: ["// unsafe", "let text = \"unsafe\"", "let unsafely = 1", "withUnsafeBytes {}"])
  func `the word alone is no unsafe code`(text: String) {
    #expect(HouseRules.strayUnsafe(in: SourceTree(["Sources/DirectDNS/Model/A.swift": text])) == [])
  }

  @Test(
    arguments: [
      "let x = try! f()", "let x = try ! f()", "fatalError()", "fatalError(\"no\")",
      "final class A: @unchecked Sendable {}", "nonisolated(unsafe) var x = 1",
    ])
  func `a hazard needs the right place and a comment`(text: String) {
    #expect(
      HouseRules.strayHazards(in: SourceTree(["Sources/DirectDNS/Model/A.swift": "// Why.\n\(text)"])).count
        == 1)
    #expect(HouseRules.strayHazards(in: SourceTree(["Sources/DirectDNS/Curl/A.swift": text])).count == 1)
    #expect(
      HouseRules.strayHazards(in: SourceTree(["Sources/DirectDNS/Curl/A.swift": "// Why.\n\n\(text)"])).count
        == 1)
    #expect(
      HouseRules.strayHazards(in: SourceTree(["Sources/DirectDNS/Curl/A.swift": "// Why.\n\(text)"])) == [])
    #expect(
      HouseRules.strayHazards(in: SourceTree(["Sources/DirectDNS/Curl/A.swift": "\(text)  // Why."])) == [])
  }

  @Test(arguments: ["precondition(x > 0)", "preconditionFailure()", "unowned let x: X", "{ [unowned self] in f() }"])
  func `what can end the process needs a comment anywhere`(text: String) {
    for target in ["DirectDNS/Model", "DirectDNSFoundation", "DirectDNSConfigReader"] {
      #expect(HouseRules.strayHazards(in: SourceTree(["Sources/\(target)/A.swift": text])).count == 1)
      #expect(HouseRules.strayHazards(in: SourceTree(["Sources/\(target)/A.swift": "// Why.\n\(text)"])) == [])
    }
  }

  @Test(arguments: [
    "let x = try? f()", "if try f() != 1 {}", "// try! f()", "let isFatalError = true", "x: Sendable",
    "var unownedExecutor: X", "preconditions()",
  ])
  func `what only looks like a hazard is none`(text: String) {
    #expect(HouseRules.strayHazards(in: SourceTree(["Sources/DirectDNS/Model/A.swift": text])) == [])
  }

  // MARK: Waiting

  @Test func `a sleep of Swift's outside its places is found`() {
    let text = "try? await Task.sleep(for: .seconds(1))"
    let path = "Sources/DirectDNS/Stores/A.swift"
    #expect(HouseRules.straySleeps(in: SourceTree([path: text])) == ["\(path):1: Task.sleep"])
    for place in HouseRules.sleepPlaces + ["Sources/DnsctlCommands/A.swift"] {
      #expect(HouseRules.straySleeps(in: SourceTree([place: text])) == [])
    }
    for other in ["try await clock.sleep(until: end)", "// Task.sleep(for: time)", "Task { sleep(1) }"] {
      #expect(HouseRules.straySleeps(in: SourceTree([path: other])) == [])
    }
  }

  // MARK: Imports

  @Test(arguments: ["Foundation", "FoundationNetworking", "NIOCore", "NIO", "FoundationInternationalization"])
  func `the library imports no heavy module`(module: String) {
    let tree = SourceTree(["Sources/DirectDNS/Model/A.swift": "public import \(module)"])
    #expect(HouseRules.heavyImports(in: tree) == ["Sources/DirectDNS/Model/A.swift:1: import \(module)"])
  }

  @Test func `the command line may use Foundation but not its network stack`() {
    let tree = SourceTree([
      "Sources/dnsctl/A.swift": "import Foundation", "Sources/dnsctl/B.swift": "import FoundationNetworking",
      "Sources/DirectDNSTesting/C.swift": "import NIOCore",
      "Sources/DirectDNS/Model/D.swift": "import FoundationEssentials",
    ])
    #expect(HouseRules.heavyImports(in: tree) == ["Sources/dnsctl/B.swift:1: import FoundationNetworking"])
  }

  // MARK: Names and tests

  @Test(arguments: ["StringUtils", "TestHelpers", "CacheManager", "Common", "String+Extensions"])
  func `a drawer is found by its name`(name: String) {
    let tree = SourceTree([
      "Sources/DirectDNS/Model/\(name).swift": "", "Sources/DirectDNS/Model/HostName.swift": "",
    ])
    #expect(HouseRules.drawerNames(in: tree) == ["Sources/DirectDNS/Model/\(name).swift"])
  }

  @Test func `a file wants a test file in the same place or an exemption`() {
    let tree = SourceTree([
      "Sources/DirectDNS/Model/HostName.swift": "", "Sources/DirectDNS/Model/Answer.swift": "",
      "Sources/DirectDNS/Cache/CacheEntry.swift": "", "Sources/dnsctl/Dnsctl.swift": "",
      "Tests/DirectDNSTests/Model/HostNameTests.swift": "",
      "Tests/DirectDNSTests/Cache/AnswerTests.swift": "",
    ])
    #expect(
      HouseRules.untestedFiles(in: tree, exempt: ["Sources/DirectDNS/Cache/CacheEntry.swift"])
        == ["Sources/DirectDNS/Model/Answer.swift"])
  }

  @Test func `an exemption that is not needed any more is found`() {
    let tree = SourceTree([
      "Sources/DirectDNS/Model/HostName.swift": "", "Tests/DirectDNSTests/Model/HostNameTests.swift": "",
    ])
    let exempt: Set = ["Sources/DirectDNS/Model/HostName.swift", "Sources/DirectDNS/Model/Gone.swift"]
    #expect(HouseRules.idleExemptions(in: tree, exempt: exempt) == exempt.sorted())
  }

  @Test func `blanking keeps lines and columns`() {
    let text = "let a = \"é\n\"  // é\nlet b = 1 /* x\ny */ + 2"
    let code = SwiftText.code(of: text)
    #expect(code.utf8.count == text.utf8.count)
    #expect(code.split(separator: "\n", omittingEmptySubsequences: false).count == 4)
    #expect(code.hasSuffix("+ 2"))
  }
}
