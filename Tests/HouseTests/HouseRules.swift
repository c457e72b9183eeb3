// SPDX-License-Identifier: Apache-2.0
/// The house's rules, each a function from the sources to the places that break it.
enum HouseRules {
  // MARK: Floors

  /// The library's folders from the ground up; those on one line stand side by side.
  static let floors: [[String]] = [
    ["Model"],
    ["Concurrency", "Files"],
    ["Policy", "Cookies"],
    ["Rewriting", "Pool"],
    ["Loop"],
    ["Curl", "Cares"],
    ["HTTP"],
    ["Providers"],
    ["Cache"],
    ["Stores"],
    ["Lookups"],
    ["Telemetry"],
    ["Resolver"],
    ["Warmup"],
    ["Client"],
    ["Diagnostics"],
  ]

  static let pureWing: Set<String> = ["Policy", "Cookies", "Rewriting", "Pool"]
  static let askingWing: Set<String> = ["HTTP", "Providers", "Cache", "Stores", "Lookups", "Resolver", "Warmup"]

  /// The folders whose types a folder may name, besides its own.
  static func floorsOpen(to folder: String) -> Set<String> {
    // What is sent where depends on where it may go; cookies and policy know nothing of each other.
    guard folder != "Rewriting" else { return ["Model", "Policy"] }
    // The cookie jar is shared by threads and has a file, so it needs the lock and a writer; its rules are values.
    guard folder != "Cookies" else { return ["Model", "Concurrency", "Files"] }
    // The pool has instants to keep in order, as lookups have.
    guard folder != "Pool" else { return ["Model", "Concurrency"] }
    guard !pureWing.contains(folder) else { return ["Model"] }
    let above = Set(floors.prefix { !$0.contains(folder) }.joined())
    return askingWing.contains(folder) ? above.subtracting(pureWing) : above
  }

  /// Every file of the library stands in a folder that the table of floors knows.
  static func filesWithoutFloor(in tree: SourceTree) -> [String] {
    let known = Set(floors.joined())
    return tree.files(under: "Sources/DirectDNS/").filter { file in
      file.floor.map { !known.contains($0) } ?? true
    }.map(\.path)
  }

  /// A folder names types of its own and of the folders open to it, and no others.
  static func namesFromClosedFloors(in tree: SourceTree) -> [String] {
    var owners: [Substring: Set<String>] = [:]
    for file in tree.files {
      guard let floor = file.floor else { continue }
      for type in file.declaredTypes(visibleOutside: true) { owners[type, default: []].insert(floor) }
    }
    return tree.files.flatMap { file -> [String] in
      guard let floor = file.floor else { return [] }
      let open = floorsOpen(to: floor).union([floor])
      // A type that the file declares for itself hides another of the same name.
      let own = file.declaredTypes(visibleOutside: false)
      return file.identifiers.compactMap { identifier in
        guard identifier.preceding != ".", !own.contains(identifier.name),
          let owners = owners[identifier.name], owners.isDisjoint(with: open)
        else { return nil }
        return
          "\(file.path):\(identifier.line): \(identifier.name) of \(owners.sorted().joined(separator: ", "))/"
      }
    }
  }

  // MARK: C and unsafe code

  /// Where each C module may be imported: a folder, or one file; some in two of them, and one without a row nowhere.
  static let importers: KeyValuePairs<String, String> = [
    "CDirectDNSCurl": "Sources/DirectDNS/Curl/",
    "CDirectDNSCares": "Sources/DirectDNS/Cares/",
    "CDirectDNSIDN": "Sources/DirectDNS/Model/IDNA.swift",
    "CDirectDNSPSL": "Sources/DirectDNS/Cookies/PublicSuffix.swift",
    "CDirectDNSClock": "Sources/DirectDNS/Concurrency/SystemClock.swift",
    "CDirectDNSFiles": "Sources/DirectDNS/Files/",
    "CDirectDNSLoop": "Sources/DirectDNS/Loop/",
    "CDirectDNSLoop": "Sources/DirectDNS/Concurrency/WorkerThread.swift",
    // They look whether something waits to be read of a connection.
    "CDirectDNSLoop": "Sources/DirectDNS/Curl/CurlQueries+Pool.swift",
    "CDirectDNSLoop": "Sources/DirectDNS/Curl/CurlSockets.swift",
    "CDirectDNSLoop": "Sources/DirectDNS/Curl/CurlTransfers+Events.swift",
    "CDirectDNSLoop": "Sources/DirectDNSProxy/Connections/OriginHandler+Silence.swift",
    // It waits on one descriptor more, by which the wait is ended.
    "CDirectDNSLoop": "Sources/DirectDNS/Files/CancellableFile.swift",
    "CDirectDNSLoop": "Sources/DirectDNS/Files/WakeUp.swift",
    // A setting of malloc(3) for all threads of a process, which is the program's business and not a library's.
    "CDirectDNSLoop": "Sources/DnsctlCommands/AddressSpaceLimit.swift",
    "CDirectDNSOpenSSL": "Sources/DirectDNS/Providers/Signing.swift",
    "CDirectDNSOpenSSL": "Sources/DirectDNS/Client/ClientIdentity+Check.swift",
    // What OpenSSL, which libcurl uses, keeps for a thread, and what it does once for a process.
    "CDirectDNSOpenSSL": "Sources/DirectDNS/Curl/CurlDriver.swift",
    "CDirectDNSOpenSSL": "Sources/DirectDNS/Curl/CurlMulti.swift",
    "CDirectDNSOpenSSL": "Sources/DirectDNSTesting/",
    "CDirectDNSOpenSSL": "Sources/DirectDNSAsyncHTTPClient/ServerName.swift",
    "CDirectDNSSQLite": "Sources/DirectDNSSQLite/",
    "CDirectDNSHiredis": "Sources/DirectDNSRedis/",
    "CDirectDNSSockets": "Sources/DirectDNSPrometheus/EndpointSocket.swift",
    "CDirectDNSSockets": "Sources/DirectDNSProxy/Connections/OriginHandler+Silence.swift",
    "CDirectDNSSockets": "Sources/DirectDNSProxy/Connections/WriteProgress.swift",
    "CDirectDNSCrypt": "Sources/DirectDNSProxy/Access/PasswordHash.swift",
  ]

  static func straySystemImports(in tree: SourceTree) -> [String] {
    tree.files(under: "Sources/").flatMap { file in
      file.imports.filter { entry in
        entry.module.hasPrefix("CDirectDNS")
          && !importers.contains { $0.key == entry.module && file.path.hasPrefix($0.value) }
      }.map { "\(file.path):\($0.line): import \($0.module)" }
    }
  }

  /// Files that may hold unsafe code: they border on C, or guard memory for everyone else.
  static let unsafePlaces = [
    "Sources/DirectDNS/Loop/",
    "Sources/DirectDNS/Curl/",
    "Sources/DirectDNS/Cares/",
    // Text is written where it is to stay: rewriting a URL would take a tenth longer by another way.
    "Sources/DirectDNS/Model/ASCII.swift",
    // HTTPTypes lends the octets of a value that is no text.
    "Sources/DirectDNS/Model/HTTPField+Octets.swift",
    "Sources/DirectDNS/Model/IDNA.swift",
    // A name is hashed where it stands, eight bytes at a time.
    "Sources/DirectDNS/Model/NameHash.swift",
    "Sources/DirectDNS/Cookies/PublicSuffix.swift",
    "Sources/DirectDNS/Files/",
    "Sources/DirectDNS/Providers/Signing.swift",
    "Sources/DirectDNS/Client/ClientIdentity+Check.swift",
    "Sources/DirectDNS/Concurrency/Locked.swift",
    "Sources/DirectDNS/Concurrency/WorkerThread.swift",
    "Sources/DirectDNS/Cache/AnswerTable",
    "Sources/DirectDNS/Cache/SourceNames.swift",
    "Sources/DirectDNSSQLite/SQLiteConnection.swift",
    "Sources/DirectDNSSQLite/SQLiteStatement.swift",
    "Sources/DirectDNSSQLite/SQLiteFile.swift",
    "Sources/DirectDNSSQLite/SQLiteWorker.swift",
    "Sources/DirectDNSRedis/RedisConnection.swift",
    "Sources/DirectDNSRedis/RedisTLS.swift",
    "Sources/DirectDNSRedis/RedisWorker.swift",
    // Plain sockets: SwiftNIO would weigh more than all of dnsctl.
    "Sources/DirectDNSPrometheus/EndpointSocket.swift",
    "Sources/DirectDNSProxy/Access/PasswordHash.swift",
    "Sources/DirectDNSProxy/ProxyServer.swift",
    // The system's words for an error are a C string.
    "Sources/DirectDNSProxy/Connections/ConnectFailure.swift",
    "Sources/DirectDNSProxy/Connections/ProxyListener.swift",
    "Sources/DirectDNSProxy/Connections/UnixSocketFile.swift",
    // SwiftNIO gives an address as a C structure alone.
    "Sources/DirectDNSProxy/Connections/SocketAddress+IPAddress.swift",
    // Foundation's streams read into raw memory alone.
    "Sources/DirectDNSFoundation/Loading/BodyStream.swift",
    "Sources/DirectDNSAsyncHTTPClient/ServerName.swift",
  ]

  /// What users link and Foundation is not in: the library, its stores, the reader of its configuration, its metrics
  /// endpoint, and its proxy.
  private static let linkedTargets = [
    "DirectDNS", "DirectDNSConfiguration", "DirectDNSSQLite", "DirectDNSRedis", "DirectDNSPrometheus", "DirectDNSProxy",
  ]
  /// What users link to go on with other libraries.
  private static let bridgingTargets = ["DirectDNSFoundation", "DirectDNSAsyncHTTPClient", "DirectDNSConfigReader"]
  /// The one of them that is made of SwiftNIO.
  private static let nioTarget = "Sources/DirectDNSProxy/"

  private static func linked(_ tree: SourceTree) -> [SourceFile] {
    (linkedTargets + bridgingTargets).flatMap { tree.files(under: "Sources/\($0)/") }
  }

  static func strayUnsafe(in tree: SourceTree) -> [String] {
    linked(tree).filter { file in
      !unsafePlaces.contains { file.path.hasPrefix($0) }
    }.flatMap { file in
      file.identifiers.filter { $0.name == "unsafe" }.map { "\(file.path):\($0.line): unsafe" }
    }
  }

  /// Files that may hold what can end the process or tell the compiler to look away.
  static let hazardPlaces = [
    "Sources/DirectDNS/Curl/",
    "Sources/DirectDNS/Cares/",
    "Sources/DirectDNS/Concurrency/Locked.swift",
    "Sources/DirectDNS/Cache/AnswerTable",
    "Sources/DirectDNS/Cache/SourceNames.swift",
    // Foundation's own types are as they are.
    "Sources/DirectDNSFoundation/Loading/",
  ]

  /// `try!`, `fatalError(`, `@unchecked Sendable` and `nonisolated(unsafe)`: in few places, with a comment.
  ///
  /// What else can end the process has a comment wherever it is.
  static func strayHazards(in tree: SourceTree) -> [String] {
    linked(tree).flatMap { file -> [String] in
      let allowed = hazardPlaces.contains { file.path.hasPrefix($0) }
      return hazards(in: file).compactMap { hazard in
        if !allowed, !hazard.isAllowedAnywhere { return "\(file.path):\(hazard.line): \(hazard.name)" }
        return file.isExplained(line: hazard.line)
          ? nil : "\(file.path):\(hazard.line): \(hazard.name) without a comment"
      }
    }
  }

  private struct Hazard {
    var name: String
    var line: Int
    var isAllowedAnywhere = false
  }

  private static func hazards(in file: SourceFile) -> [Hazard] {
    let lines = file.code.split(separator: "\n", omittingEmptySubsequences: false)
    return lines.enumerated().flatMap { index, text -> [Hazard] in
      let dense = text.filter { !$0.isWhitespace }
      let words = Set(SwiftText.identifiers(in: String(text)).map(\.name))
      var found: [Hazard] = []
      func find(_ name: String, _ word: Substring, _ spelling: String, isAllowedAnywhere: Bool = false) {
        guard words.contains(word), dense.contains(spelling) else { return }
        found.append(Hazard(name: name, line: index + 1, isAllowedAnywhere: isAllowedAnywhere))
      }
      find("try!", "try", "try!")
      find("fatalError", "fatalError", "fatalError(")
      find("@unchecked Sendable", "Sendable", "@uncheckedSendable")
      find("nonisolated(unsafe)", "nonisolated", "nonisolated(unsafe)")
      find("precondition", "precondition", "precondition(", isAllowedAnywhere: true)
      find("preconditionFailure", "preconditionFailure", "preconditionFailure(", isAllowedAnywhere: true)
      find("unowned", "unowned", "unowned", isAllowedAnywhere: true)
      return found
    }
  }

  // MARK: Waiting

  /// Files that may wait by `Task.sleep`: where the clock does so, and where a wait is short, whatever becomes of it.
  static let sleepPlaces = [
    "Sources/DirectDNS/Concurrency/SystemClock.swift",
    "Sources/DirectDNSAsyncHTTPClient/HTTPClientRequest+Redirect.swift",
    "Sources/DirectDNSProxy/ProxyServer.swift",
  ]

  /// `Task.sleep` anywhere else: Swift keeps a sleep that was cancelled until its time has come, and a clock's own leaves
  /// nothing behind.
  static func straySleeps(in tree: SourceTree) -> [String] {
    linked(tree).filter { !sleepPlaces.contains($0.path) }.flatMap { file in
      zip(file.identifiers, file.identifiers.dropFirst()).compactMap { former, member -> String? in
        guard former.name == "Task", member.name == "sleep", member.preceding == "." else { return nil }
        return "\(file.path):\(member.line): Task.sleep"
      }
    }
  }

  // MARK: Imports

  /// Foundation beyond its essentials, the network stack of Foundation, and SwiftNIO.
  static func heavyImports(in tree: SourceTree) -> [String] {
    tree.files(under: "Sources/").flatMap { file -> [String] in
      let heavy: (String) -> Bool
      if linkedTargets.contains(where: { file.path.hasPrefix("Sources/\($0)/") }) {
        heavy = { module in
          (module.hasPrefix("Foundation") && module != "FoundationEssentials")
            || !file.path.hasPrefix(nioTarget) && (module.hasPrefix("NIO") || module.hasPrefix("_NIO"))
        }
      } else if file.path.hasPrefix("Sources/dnsctl/") || file.path.hasPrefix("Sources/DnsctlCommands/") {
        heavy = { module in module == "FoundationNetworking" || module.hasPrefix("NIO") }
      } else {
        return []
      }
      // Where FoundationEssentials does not stand alone (Apple's systems) the whole of it takes its place.
      let hasEssentials = file.imports.contains { $0.module == "FoundationEssentials" }
      return file.imports.filter { heavy($0.module) && !($0.module == "Foundation" && hasEssentials) }
        .map { "\(file.path):\($0.line): import \($0.module)" }
    }
  }

  // MARK: Names and tests

  /// Words that name a drawer, not an idea.
  static let drawers = ["Utils", "Utilities", "Helper", "Manager", "Common", "Extensions"]

  static func drawerNames(in tree: SourceTree) -> [String] {
    tree.files.filter { file in drawers.contains { file.name.contains($0) } }.map(\.path)
  }

  /// Files of the library without a test file in the same place, `exempt` ones aside.
  static func untestedFiles(in tree: SourceTree, exempt: Set<String>) -> [String] {
    let paths = Set(tree.files.map(\.path))
    return tree.files(under: "Sources/DirectDNS/").map(\.path).filter { path in
      !exempt.contains(path) && !paths.contains(testFile(of: path))
    }
  }

  /// Exemptions that are not needed any more: the file has gone, or has its tests.
  static func idleExemptions(in tree: SourceTree, exempt: Set<String>) -> [String] {
    let paths = Set(tree.files.map(\.path))
    return exempt.filter { !paths.contains($0) || paths.contains(testFile(of: $0)) }.sorted()
  }

  private static func testFile(of path: String) -> String {
    "Tests/DirectDNSTests/" + path.dropFirst("Sources/DirectDNS/".count).dropLast(".swift".count)
      + "Tests.swift"
  }
}
