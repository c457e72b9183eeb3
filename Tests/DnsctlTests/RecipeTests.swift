// SPDX-License-Identifier: Apache-2.0
import DirectDNSSQLite
import Foundation
import Testing

@testable import DnsctlCommands

/// What the recipes of `Config` take for granted about the code; `Scripts/recipes` runs them.
struct RecipeTests {
  private func text(_ path: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  @Test func `a pod's volume has room for the store at its largest and for its log`() throws {
    let recipe = try text("Config/kubernetes/warmup.yaml")
    let match = try #require(recipe.firstMatch(of: #/sizeLimit: (\d+)Mi/#))
    let size = try #require(Int(match.1))
    #expect(size << 20 > 2 * SQLiteStoreConfiguration(path: "answers.sqlite").maximumBytes)
  }

  // https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
  @Test(arguments: ["Config/kubernetes/warmup.yaml", "Config/kubernetes/proxy.yaml"])
  func `a namespace that keeps to the restricted standard takes the pods`(_ path: String) throws {
    let recipe = try text(path)
    let pods = recipe.matches(of: #/runAsNonRoot: true/#).count
    #expect(pods > 0 && recipe.matches(of: #/seccompProfile: \{ type: RuntimeDefault \}/#).count == pods)
  }

  @Test(arguments: ["Config/kubernetes/warmup.yaml", "Config/kubernetes/proxy.yaml", "Packaging/Containerfile"])
  func `images have the version that they are made of`(_ path: String) throws {
    let versions = try text(path).matches(of: #/dnsctl:(\d+\.\d+\.\d+)/#).map { String($0.1) }
    #expect(!versions.isEmpty && Set(versions) == [DnsctlVersion.text])
  }

  @Test(arguments: ["directdns-keep-warm@.service", "directdns-warmup@.service"])
  func `a unit that is stopped while it warms up has not failed`(_ unit: String) throws {
    let line = "SuccessExitStatus=\(ExitStatus.terminated.rawValue)"
    #expect(try text("Config/systemd/\(unit)").split(separator: "\n").contains { $0 == line })
  }
}
