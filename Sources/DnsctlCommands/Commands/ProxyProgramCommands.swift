// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// `dnsctl proxy`, which is a program of its own.
struct ProxyProgramCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "proxy", abstract: "Serve as a proxy, for programs of every language and for browsers.",
    discussion: "dnsctl proxy --help tells of its options.")

  @Argument(parsing: .captureForPassthrough, help: "The proxy's options.")
  var arguments: [String] = []

  func run() throws { ProxyProgramStart.replaceProcess("proxy", arguments) }
}

/// `dnsctl exec`, which the same program does.
struct ExecProgramCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "exec", abstract: "Run a program through a proxy of its own.",
    discussion: "dnsctl exec --help tells of its options.")

  @Argument(parsing: .captureForPassthrough, help: "Options, then -- and the program with its arguments.")
  var arguments: [String] = []

  func run() throws { ProxyProgramStart.replaceProcess("exec", arguments) }
}

/// Goes on as `dnsctl-proxy`, which lies beside dnsctl.
enum ProxyProgramStart {
  /// Where it may lie, from dnsctl's own place.
  static func places(beside dnsctl: String) -> [String] {
    let folder = dnsctl.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    return [folder + "/dnsctl-proxy", folder + "/../libexec/dnsctl/dnsctl-proxy"]
  }

  /// Never returns: the process is the other program from then on, or ends.
  static func replaceProcess(_ verb: String, _ arguments: [String]) -> Never {
    replaceProcess([verb] + arguments)
    let errors = DescriptorOutput(descriptor: StandardDescriptor.errors)
    errors.say("dnsctl: dnsctl-proxy is not beside dnsctl (\(ownPlaces[0])): install both, as make install does.\n")
    CommandSignals.end(.streams)
  }

  /// Returns only where there is no such program.
  static func replaceProcess(_ arguments: [String]) {
    for place in ownPlaces {
      var words: [UnsafeMutablePointer<CChar>?] = unsafe ([place] + arguments).map { unsafe strdup($0) }
      unsafe words.append(nil)
      // It comes back only when that failed.
      _ = unsafe execv(place, words)
      unsafe words.forEach { unsafe free($0) }
    }
  }

  private static var ownPlaces: [String] { places(beside: ownPath() ?? CommandLine.arguments.first ?? "dnsctl") }

  /// The file that this process is; links are followed.
  private static func ownPath() -> String? {
    #if os(Linux)
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = unsafe buffer.withUnsafeMutableBytes { bytes in
        unsafe bytes.withMemoryRebound(to: CChar.self) { text in
          unsafe text.baseAddress.map { unsafe readlink("/proc/self/exe", $0, text.count) } ?? 0
        }
      }
      return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    #else
      return nil
    #endif
  }
}
