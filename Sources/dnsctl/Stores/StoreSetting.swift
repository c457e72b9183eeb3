internal import ArgumentParser
internal import DirectDNS
internal import DirectDNSConfiguration
internal import DirectDNSRedis
internal import DirectDNSSQLite

/// A store's place, and who named it.
struct StoreSetting: Sendable, Hashable {
  var place: StorePlace
  /// `--store`, an environment variable, or a configuration file and its key.
  var origin: String

  /// Nobody named one.
  static let none = StoreSetting(place: .memory, origin: "")

  init(place: StorePlace, origin: String) {
    self.place = place
    self.origin = origin
  }

  /// Reads what an option or a variable says.
  init(_ text: String, origin: String) throws(SettingsError) {
    do throws(ConfigurationFault) { place = try StorePlace(text) } catch {
      throw Self.fault(error.message, origin: origin)
    }
    self.origin = origin
  }

  static let option = "--store"
  static let help = ArgumentHelp(
    "Where answers are remembered: memory, sqlite, sqlite:PATH, a path, or redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]. sqlite alone is directdns/answers.sqlite in $XDG_CACHE_HOME or ~/.cache. (default: memory)",
    valueName: "store")

  private static func fault(_ message: String, origin: String) -> SettingsError {
    SettingsError(origin == option ? .usage : .configuration, "\(origin): \(message)")
  }

  func fault(_ message: String) -> SettingsError { Self.fault(message, origin: origin) }

  /// The store; nothing where answers are not remembered.
  ///
  /// Nothing is opened or connected to before it is used.
  func store(_ environment: [String: String]) throws(SettingsError) -> (any AnswerStore)? {
    switch place {
    case .memory: return nil
    case .file: return SQLiteAnswerStore(SQLiteStoreConfiguration(path: try path(environment) ?? ""))
    case .server(let url):
      do throws(DirectDNSError) { return RedisAnswerStore(try RedisStoreConfiguration(url: url.text)) } catch {
        throw fault(error.message)
      }
    }
  }

  /// The file that the store is in; nothing if it is in none.
  func path(_ environment: [String: String]) throws(SettingsError) -> String? {
    guard case .file(let named) = place else { return nil }
    if let named { return named }
    // The base directory specification wants absolute paths and ignores others.
    if let folder = environment["XDG_CACHE_HOME"], folder.hasPrefix("/") { return folder + "/directdns/answers.sqlite" }
    guard let home = environment["HOME"], home.hasPrefix("/") else {
      throw fault("There is no cache folder, since HOME is not set. Name a file: sqlite:PATH.")
    }
    return home + "/.cache/directdns/answers.sqlite"
  }
}
