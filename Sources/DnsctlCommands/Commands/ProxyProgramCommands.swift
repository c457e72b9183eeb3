// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

#if canImport(Darwin)
  internal import Darwin
  internal import MachO
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
}

/// `dnsctl exec`, which is a command of the same program.
struct ExecProgramCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "exec", abstract: "Run a program through a proxy of its own.",
    discussion: "dnsctl exec --help lists its options.")
}

/// Replaces this process by `dnsctl-proxy`, which is installed beside dnsctl.
enum ProxyProgramStart {
  /// The paths at which it may be installed, relative to dnsctl's own.
  static func places(beside dnsctl: String) -> [String] {
    let folder = dnsctl.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    return [folder + "/dnsctl-proxy", folder + "/../libexec/dnsctl/dnsctl-proxy"]
  }

  /// The arguments for `dnsctl-proxy`, byte for byte, since they need not be UTF-8: a pure function.
  ///
  /// - Parameter words: the arguments of dnsctl.
  /// - Returns: those of the other program, and whether dnsctl cannot do without it; nil if the command is dnsctl's own.
  static func arguments(for words: [[UInt8]]) -> (words: [[UInt8]], isNeeded: Bool)? {
    let verbs = [Array("proxy".utf8), Array("exec".utf8)]
    guard let first = words.first else { return nil }
    if verbs.contains(first) { return (words, true) }
    if words.count == 2, first == Array("help".utf8), verbs.contains(words[1]) {
      return ([words[1], Array("--help".utf8)], true)
    }
    // It knows the options of its commands, too.
    return first.starts(with: "--generate-completion-script".utf8) ? (words, false) : nil
  }

  /// Becomes the other program where it is needed, or ends; returns if the command is dnsctl's own.
  ///
  /// - Parameter words: the arguments of dnsctl.
  static func replaceProcess(for words: [[UInt8]]) {
    guard let (words, isNeeded) = arguments(for: words) else { return }
    let fault = replaceProcess(words)
    guard isNeeded else { return }
    let advice = "dnsctl-proxy is not beside dnsctl (\(ownPlaces[0])): install both, as make install does"
    DescriptorOutput(descriptor: StandardDescriptor.errors).say("dnsctl: \(fault ?? advice).\n")
    CommandSignals.end(.streams)
  }

  /// Returns only if it cannot be run, with why that is, or nil if there is no such program.
  private static func replaceProcess(_ arguments: [[UInt8]]) -> String? {
    var fault: String?
    for place in ownPlaces {
      let words = CStrings([Array(place.utf8)] + arguments)
      let code = unsafe words.withPointers { words -> Int32 in
        // It returns only if it fails.
        _ = unsafe execv(place, words)
        return errno
      }
      guard code != ENOENT else { continue }
      let reason = unsafe String(cString: strerror(code))
      fault = fault ?? "\(place) cannot be run (\(reason)): check its permissions, and the memory of this process"
    }
    return fault
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
    #elseif canImport(Darwin)
      var size = UInt32(PATH_MAX)
      var buffer = [CChar](repeating: 0, count: Int(size))
      // It is the path by which the program was started (dyld(3)).
      return unsafe _NSGetExecutablePath(&buffer, &size) == 0 ? realPath(String(cString: buffer)) : nil
    #else
      return nil
    #endif
  }
}
