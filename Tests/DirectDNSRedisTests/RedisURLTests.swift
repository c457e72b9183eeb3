// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Testing

@testable import DirectDNSRedis

@Suite struct RedisURLTests {
  private static func tcp(_ host: String, _ port: UInt16) -> RedisStoreConfiguration.Server {
    do { return .tcp(try WebURL.Host(host), port: port) } catch { preconditionFailure("\(error)") }
  }

  @Test(arguments: [
    ("redis://cache.example", tcp("cache.example", 6379), 0), ("redis://127.0.0.1:7000/3", tcp("127.0.0.1", 7000), 3),
    ("valkey://[::1]:6380", tcp("[::1]", 6380), 0), ("REDIS://[::1]", tcp("[::1]", 6379), 0),
    ("redis://cache.example/", tcp("cache.example", 6379), 0),
    ("redis+unix:///run/redis.sock", .socket("/run/redis.sock"), 0),
  ])
  func `a URL says where the server is`(
    _ url: String, _ server: RedisStoreConfiguration.Server, _ database: Int
  ) throws {
    let configuration = try RedisStoreConfiguration(url: url)
    #expect(configuration == RedisStoreConfiguration(server: server, database: database))
  }

  @Test(
    arguments: [
      ("redis://:secret@cache.example", nil, "secret"), ("redis://me:secret@cache.example:1", "me", "secret"),
      ("redis://me:p%40ss%3Aw%2F@cache.example", "me", "p@ss:w/"), ("redis://me:a@b:c@cache.example", "me", "a@b:c"),
    ] as [(String, String?, Secret)])
  func `a URL may hold user and password`(_ url: String, _ user: String?, _ password: Secret) throws {
    let configuration = try RedisStoreConfiguration(url: url)
    #expect(configuration.user == user)
    #expect(configuration.password == password)
    #expect(!"\(configuration)".contains(password.text))
  }

  @Test(
    arguments: [
      ("rediss://a", .init()), ("valkeys://a/", .init()),
      ("rediss://u:p?w@a/?ca=/x/ca.pem", .init(authorities: "/x/ca.pem")),
      ("rediss://a?ca=/x%20y", .init(authorities: "/x y")),
      (
        "rediss://a:1/3?key=/k&ca=/c&cert=/a@b",
        .init(authorities: "/c", identity: .init(certificate: "/a@b", key: "/k"))
      ),
    ] as [(String, RedisStoreConfiguration.TLS)])
  func `rediss is the same by TLS, with files behind a question mark`(
    _ url: String, _ tls: RedisStoreConfiguration.TLS
  ) throws {
    let configuration = try RedisStoreConfiguration(url: url)
    #expect(configuration.tls == tls)
    guard case .tcp(let host, _) = configuration.server else { throw DirectDNSError(.storeFailed, "no host") }
    #expect(host.description == "a")
    #expect(configuration.database == (url.contains("/3") ? 3 : 0))
    #expect(configuration.password == (url.contains("p?w") ? "p?w" : nil))
    #expect(try RedisStoreConfiguration(url: "redis://a").tls == nil)
  }

  @Test(arguments: [
    ("redis://a?ca=/x", "rediss alone"), ("rediss://a?", "not ca, cert or key"),
    ("rediss://a?CA=/x", "not ca, cert or key"),
    ("rediss://a?ca", "behind ca="), ("rediss://a?ca=", "behind ca="),
    ("rediss://a?ca=x.pem", "absolute path behind ca="),
    ("rediss://a?ca=/%zz", "behind ca="), ("rediss://a?ca=/%+a", "behind ca="), ("rediss://a?ca=/%00", "behind ca="),
    ("rediss://a?ca=/x&ca=/y", "ca twice"),
    ("rediss://a?cert=/x", "each needs the other"), ("rediss://a?key=/x&ca=/y", "each needs the other"),
  ])
  func `what stands behind the question mark is checked`(_ url: String, _ reason: String) {
    #expect {
      _ = try RedisStoreConfiguration(url: url)
    } throws: { error in
      (error as? DirectDNSError)?.code == .invalidConfiguration && "\(error)".contains(reason)
    }
  }

  @Test(arguments: [
    "cache.example", "http://cache.example", "rediss+unix:///run/redis.sock", "redis://", "redis://:0", "redis://a:0",
    "redis://a:99999", "redis://a:+80", "redis://a:x", "redis://a/x", "redis://a/-1", "redis://user@a",
    "redis://a/+1", "redis://a/1x", "redis://a/99999999999999999999", "redis://:%zz@a", "redis://:%+a@a",
    "redis://:%-0@a", "redis://:%a@a", "redis+unix://", "redis+unix:///", "redis+unix://a", "redis://a b", "rediss://",
    "rediss://a/x",
  ])
  func `a URL that cannot be used is refused with the reason`(_ url: String) {
    #expect {
      _ = try RedisStoreConfiguration(url: url)
    } throws: { error in
      (error as? DirectDNSError)?.code == .invalidConfiguration
    }
  }

  @Test(arguments: [
    "redis://me:HUSH@a:x", "redis://me:HUSH@", "rediss://me:HUSH@a?x", "rediss://me:HUSH@a?ca=HUSH",
    "rediss://me:HUSH@a:x", "redis://me:HUSH%@a",
  ])
  func `no error shows a password`(_ url: String) {
    #expect {
      _ = try RedisStoreConfiguration(url: url)
    } throws: { error in
      !"\(error)".contains("HUSH")
    }
  }
}
