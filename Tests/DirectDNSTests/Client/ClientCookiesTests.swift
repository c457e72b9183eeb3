import DirectDNSTesting
import HTTPTypes
import Testing

@testable import DirectDNS

@Suite(.timeLimit(.minutes(1)))
struct ClientCookiesTests {
  @Test func `cookies of a hop are stored before the next one, and stay with their host`() async throws {
    let origin = try await FakeOrigin.start { request in
      let port = request.host?.split(separator: ":").last ?? ""
      return switch request.path {
      case "/login":
        OriginResponse(.found, fields: [.location: "/home", .setCookie: "session=1; HttpOnly; Domain=127.0.0.1"])
      case "/home": OriginResponse(.found, fields: [.location: "http://other.test:\(port)/away"])
      default: OriginResponse(body: "end")
      }
    }
    let jar = CookieJar()
    let client = try ClientFixture.client(names: ["shop.test": ["127.0.0.1"], "other.test": ["127.0.0.1"]]) {
      $0.cookies = jar
    }
    let response = try await client.execute(
      ClientFixture.get(origin.url("/login", host: "shop.test"), [.cookie: "own=2"]))
    #expect(try await response.body.text() == "end" && response.hops.count == 2)
    #expect(origin.requests.map { $0.fields[.cookie] } == ["own=2", "session=1; own=2", nil])
    #expect(jar.cookies.map(\.domain.description) == ["shop.test"], "never the address's")
    await client.shutDown()
    await origin.stop()
  }

  @Test func `without a jar nothing is kept`() async throws {
    let origin = try await FakeOrigin.start { _ in OriginResponse(fields: [.setCookie: "session=1"]) }
    let client = try ClientFixture.client()
    for _ in 0..<2 {
      _ = try await client.execute(ClientFixture.get(origin.url("/", host: "shop.test"))).body.text()
    }
    #expect(origin.requests.allSatisfy { !$0.fields.contains(.cookie) })
    await client.shutDown()
    await origin.stop()
  }
}
