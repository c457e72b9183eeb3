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
    discussion: "dnsctl proxy --help lists its options.")

  @Argument(parsing: .captureForPassthrough, help: "The proxy's options.")
  var arguments: [String] = []

  func run() throws { ProxyProgramStart.run(as: "proxy", arguments) }
}

/// `dnsctl exec`, which is a command of the same program.
struct ExecProgramCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "exec", abstract: "Run a program through a proxy of its own.",
    discussion: "dnsctl exec --help lists its options.")

  @Argument(parsing: .captureForPassthrough, help: "Options, then -- and the program with its arguments.")
  var arguments: [String] = []

  func run() throws { ProxyProgramStart.run(as: "exec", arguments) }
}

/// Replaces this process by `dnsctl-proxy`, which is installed beside dnsctl.
enum ProxyProgramStart {
  /// The paths at which it may be installed, relative to dnsctl's own.
  static func places(beside dnsctl: String) -> [String] {
    let folder = dnsctl.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    return [folder + "/dnsctl-proxy", folder + "/../libexec/dnsctl/dnsctl-proxy"]
  }

  /// Passes on the command line byte for byte, since it need not be UTF-8.
  static func run(as verb: String, _ arguments: [String]) -> Never {
    let words = ProcessArguments.bytes
    if words.first == Array(verb.utf8) { replaceProcess(words) }
    replaceProcess(verb, arguments)
  }

  /// Never returns: the process becomes the other program, or ends.
  static func replaceProcess(_ verb: String, _ arguments: [String]) -> Never {
    replaceProcess([verb] + arguments)
    let errors = DescriptorOutput(descriptor: StandardDescriptor.errors)
    errors.say("dnsctl: dnsctl-proxy is not beside dnsctl (\(ownPlaces[0])): install both, as make install does.\n")
    CommandSignals.end(.streams)
  }

  /// Returns only if there is no such program.
  static func replaceProcess(_ arguments: [String]) { replaceProcess(arguments.map { Array($0.utf8) }) }

  private static func replaceProcess(_ arguments: [[UInt8]]) {
    ProcessPriority.take()
    for place in ownPlaces {
      let words = CStrings([Array(place.utf8)] + arguments)
      // It returns only if it fails.
      _ = unsafe words.withPointers { unsafe execv(place, $0) }
    }
  }

  private static var ownPlaces: [String] { places(beside: ownPath() ?? CommandLine.arguments.first ?? "dnsctl") }

  /// The path of this process's program, with links resolved.
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
