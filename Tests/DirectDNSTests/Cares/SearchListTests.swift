// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct SearchListTests {
  private static func names(_ list: SearchList, _ host: String = "db") -> [String] {
    list.names(for: HostName(canonical: host)).map(\.text)
  }

  @Test(arguments: [
    ("", ["db"]), ("nameserver 192.0.2.1\n", ["db"]),
    ("search a.test b.test\n", ["db.a.test", "db.b.test", "db"]), ("\tsearch\ta.test \r\n", ["db.a.test", "db"]),
    ("domain a.test b.test", ["db.a.test", "db"]),
    // Of several lines the last one counts, unless it says nothing.
    ("domain a.test\nsearch b.test\n", ["db.b.test", "db"]), ("search a.test\ndomain b.test\n", ["db.b.test", "db"]),
    ("search a.test\nsearch\n", ["db.a.test", "db"]),
    ("# search a.test\n;search b.test\nsearch c.test # d.test\n", ["db.c.test", "db"]),
    // The root, which systemd-resolved writes, is the name as it is.
    ("search .\n", ["db"]), ("search . a.test\n", ["db", "db.a.test"]), ("search a.test .\n", ["db.a.test", "db"]),
    ("search a.test.\n", ["db.a.test", "db"]), ("search a.test a.test\n", ["db.a.test", "db"]),
    ("search a..test b.test\n", ["db.b.test", "db"]),
    ("search a.test\noptions ndots:0\n", ["db", "db.a.test"]),
    ("options edns0 ndots:0\noptions ndots:5\nsearch a.test\n", ["db.a.test", "db"]),
  ])
  func `the domains of resolv.conf are searched, and then the name as it is`(_ text: String, _ expected: [String]) {
    #expect(Self.names(SearchList(resolvConf: text)) == expected)
  }

  @Test func `the environment takes the place of the file's domains, and adds to its options`() {
    let text = "search a.test\n"
    #expect(
      Self.names(SearchList(resolvConf: text, environment: ["LOCALDOMAIN": "x.test y.test"]))
        == ["db.x.test", "db.y.test", "db"])
    #expect(Self.names(SearchList(resolvConf: text, environment: ["LOCALDOMAIN": ""])) == ["db"])
    #expect(
      Self.names(SearchList(resolvConf: text, environment: ["RES_OPTIONS": "rotate ndots:0"])) == ["db", "db.a.test"])
  }

  @Test(arguments: [
    ("web1.shop.test", "", ["db.shop.test", "db"]), ("web1", "", ["db"]),
    ("web1.shop.test", "search a.test", ["db.a.test", "db"]),
  ])
  func `where no domain is named it is this machine's own`(_ own: String, _ text: String, _ expected: [String]) {
    #expect(Self.names(SearchList(resolvConf: text, hostName: own)) == expected)
  }

  @Test func `a name that would be too long is left out`() {
    let list = SearchList(resolvConf: "search \(Sample.longest("a")) a.test\n")
    #expect(Self.names(list) == ["db.a.test", "db"])
  }

  @Test func `it is read from a file, and one that is missing is an empty one`() throws {
    let folder = try FileFolder()
    try folder.write("search a.test\n", to: "resolv.conf")
    // The environment of whoever runs the tests counts, too.
    #expect(Self.names(SearchList(ofFile: folder / "resolv.conf")).last == "db")
    #expect(Self.names(SearchList(ofFile: folder / "none")).last == "db")
  }
}

struct SearchWalkTests {
  /// Walks where each name has A, AAAA, both or nothing (-), or does not exist.
  private static func walk(_ family: IPAddress.Family, _ zones: [String: String]) -> (asked: [String], end: String) {
    var walk = SearchWalk(Sample.name("db.a"), [Sample.name("db.b"), Sample.name("db")], family)
    var asked: [String] = []
    while asked.count < 9 {
      let type = walk.family == .ipv4 ? "A" : "AAAA"
      asked.append("\(walk.name) \(type)")
      let has = zones[walk.name.text]
      let outcome: CaresLookup.Outcome =
        switch has {
        case nil: .failure(.nameNotFound)
        case "silent"?: .failure(.timedOut)
        case "broken"?: .failure(.noServer)
        case "refuses"?: .failure(.refused)
        case "- and broken"? where type == "AAAA", "A and broken"? where type == "AAAA": .failure(.serverFailed)
        case "A and silence"? where type == "AAAA": .failure(.timedOut)
        case let has? where has.split(separator: " ").contains(type[...]):
          .success(CaresLookup.Found(ttl: 1, canonicalName: walk.name.text))
        default: .failure(.noAddress)
        }
      guard let end = walk.next(after: outcome) else { continue }
      switch end {
      case .success(let found): return (asked, found.canonicalName ?? "")
      case .failure(let error): return (asked, "\(error)")
      }
    }
    return (asked, "endless")
  }

  struct Case: Sendable {
    var zones: [String: String]
    var family = IPAddress.Family.ipv4
    var asked: [String]
    var end: String
  }

  @Test(arguments: [
    // The first name that exists is the one, and what is wanted is asked for alone.
    Case(zones: ["db.a": "A"], asked: ["db.a A"], end: "db.a"),
    Case(zones: ["db.b": "A AAAA"], asked: ["db.a A", "db.b A"], end: "db.b"),
    Case(zones: ["db": "A"], asked: ["db.a A", "db.b A", "db A"], end: "db"),
    Case(zones: [:], asked: ["db.a A", "db.b A", "db A"], end: "name not found"),
    // It is the one as well if it has the other family alone: nothing of what comes later counts.
    Case(zones: ["db.a": "AAAA", "db.b": "A"], asked: ["db.a A", "db.a AAAA"], end: "no address"),
    Case(
      zones: ["db.a": "A", "db.b": "AAAA"], family: .ipv6, asked: ["db.a AAAA", "db.a A"], end: "no address"),
    // One without any address is not.
    Case(zones: ["db.a": "-", "db.b": "A"], asked: ["db.a A", "db.a AAAA", "db.b A"], end: "db.b"),
    Case(
      zones: ["db.a": "-"], asked: ["db.a A", "db.a AAAA", "db.b A", "db A"], end: "no address"),
    // Of the last name nothing more need be known.
    Case(zones: ["db": "A"], family: .ipv6, asked: ["db.a AAAA", "db.b AAAA", "db AAAA"], end: "no address"),
    // Silence may hide the name.
    Case(zones: ["db.a": "silent", "db.b": "A"], asked: ["db.a A"], end: "timed out"),
    Case(zones: ["db.a": "A and silence", "db.b": "AAAA"], family: .ipv6, asked: ["db.a AAAA"], end: "timed out"),
    Case(zones: ["db.b": "A and silence"], asked: ["db.a A", "db.b A"], end: "db.b"),
    // A domain that is broken keeps nobody from the others, and leaves it open whether the name exists.
    Case(zones: ["db.a": "broken", "db.b": "A"], asked: ["db.a A", "db.a AAAA", "db.b A"], end: "db.b"),
    Case(
      zones: ["db.a": "refuses"], asked: ["db.a A", "db.a AAAA", "db.b A", "db A"], end: "refused the query"),
    Case(
      zones: ["db.a": "refuses", "db.b": "broken"],
      asked: ["db.a A", "db.a AAAA", "db.b A", "db.b AAAA", "db A"], end: "refused the query"),
    Case(
      zones: ["db.a": "refuses", "db.b": "-"],
      asked: ["db.a A", "db.a AAAA", "db.b A", "db.b AAAA", "db A"], end: "refused the query"),
    Case(zones: ["db.a": "- and broken", "db.b": "A"], asked: ["db.a A", "db.a AAAA", "db.b A"], end: "db.b"),
    Case(zones: ["db": "refuses"], asked: ["db.a A", "db.b A", "db A"], end: "refused the query"),
    Case(zones: ["db.a": "refuses", "db.b": "silent"], asked: ["db.a A", "db.a AAAA", "db.b A"], end: "timed out"),
    // It is the one if the other family is there, so that both come from one place.
    Case(
      zones: ["db.a": "A and broken", "db.b": "A AAAA"], family: .ipv6, asked: ["db.a AAAA", "db.a A"],
      end: CaresError.serverFailed.description),
  ])
  func `both families of a single label come from the first name that has one`(_ one: Case) {
    let (asked, end) = Self.walk(one.family, one.zones)
    #expect(asked == one.asked)
    #expect(end == one.end)
  }
}
