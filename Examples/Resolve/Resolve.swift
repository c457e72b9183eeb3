// SPDX-License-Identifier: Apache-2.0
import DirectDNS
import Foundation

/// Looks up the name that is given, twice.
@main
struct Resolve {
  static func main() async {
    let host = CommandLine.arguments.dropFirst().first ?? "www.example.com"
    do throws(DirectDNSError) {
      // Without a configuration: AliDNS, Google and Cloudflare over HTTPS, then the system's DNS.
      let resolver = try DirectResolver()

      let options = LookupOptions(expired: .preferred, timeout: .seconds(2))
      let answer = try await resolver.resolve(host, options: options)
      print(host, answer.addresses.map(\.description), answer.freshness, answer.source)

      // From now on an answer is there at once: this neither waits nor throws.
      if let known = resolver.cached(host) { print("\(known.freshness), asked for \(known.age) ago") }
      resolver.shutdown()
    } catch {
      // It names the host, the reason, everyone who was asked, and what to do.
      FileHandle.standardError.write(Data("Resolve: \(error)\n".utf8))
      exit(1)
    }
  }
}
