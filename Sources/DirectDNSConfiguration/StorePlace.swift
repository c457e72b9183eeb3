// SPDX-License-Identifier: Apache-2.0
public import DirectDNS

/// Where answers are stored beyond the process, in the form of options and files.
///
/// Nothing is opened here: `DirectDNSSQLite` and `DirectDNSRedis` have the stores.
public enum StorePlace: Sendable, Hashable {
  /// Nowhere.
  case memory
  /// A SQLite file; nil means the one in the user's cache folder.
  case file(String?)
  /// A Redis or Valkey server, by a URL that may hold a password.
  case server(Secret)

  static let forms = "Write memory, sqlite, sqlite:PATH, a path, or redis://HOST."

  /// Reads `memory`, `sqlite`, `sqlite:PATH`, a path, or a URL.
  ///
  /// A server's URL is checked by its store. No fault repeats a URL.
  package init(_ text: String) throws(ConfigurationFault) {
    let scheme = text.prefix { $0 != ":" && $0 != "/" }.lowercased()
    switch text.dropFirst(scheme.count) {
    case "" where scheme == "memory": self = .memory
    case "" where scheme == "sqlite": self = .file(nil)
    case let rest where scheme == "sqlite" && rest.hasPrefix(":"):
      self = .file(try Self.path(rest.dropFirst(), of: text))
    case let rest where rest.hasPrefix("://"):
      guard Self.schemes.contains(scheme) else {
        throw ConfigurationFault("\"\(scheme.printable)://\" is not the URL of a store. \(Self.forms)")
      }
      self = .server(Secret(text))
    case let rest where rest.hasPrefix(":") && Self.schemes.contains(scheme):
      throw ConfigurationFault("a URL has \"//\" behind its scheme: write \(scheme)://HOST.")
    default:
      guard !text.hasPrefix("@") else {
        throw ConfigurationFault(
          "\"\(text.printable)\" begins with @, which is read on the command line alone. Write what that file says; a file of that name is ./\(text.printable)."
        )
      }
      // A typing error in one of the words above must not become a file of that name.
      guard text.contains("/") || text.contains(".") else {
        let file = text.isEmpty ? "" : " A file of that name is ./\(text.printable)."
        throw ConfigurationFault("\"\(text.printable)\" is not a store. \(Self.forms)\(file)")
      }
      self = .file(try Self.path(text[...], of: text))
    }
  }

  /// The schemes that mean a server.
  private static let schemes: Set<String> = [
    "redis", "valkey", "redis+unix", "valkey+unix", "rediss", "valkeys",
  ]

  private static func path(_ path: Substring, of text: String) throws(ConfigurationFault) -> String {
    guard !path.isEmpty, !path.hasSuffix("/"), path != ":memory:", !path.utf8.contains(0) else {
      throw ConfigurationFault("\"\(text.printable)\" names no file. \(forms)")
    }
    guard !path.utf8.starts(with: "file:".utf8) else {
      throw ConfigurationFault("\"\(text.printable)\" has a URI in place of a path. Leave file: out.")
    }
    guard path != "~", !path.hasPrefix("~/") else {
      throw ConfigurationFault("\"\(text.printable)\" has a ~ that no shell has replaced: write the whole path.")
    }
    return String(path)
  }
}
