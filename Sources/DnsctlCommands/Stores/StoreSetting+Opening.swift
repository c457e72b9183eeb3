// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSConfiguration
internal import DirectDNSRedis
internal import DirectDNSSQLite

extension StoreSetting {
  /// The store; nil where answers are not remembered.
  ///
  /// Nothing is opened or connected to before it is used.
  ///
  /// - Parameters:
  ///   - environment: where the cache folder is.
  ///   - errors: where it says what should be known though it works.
  /// - Returns: the store.
  /// - Throws: that there can be no such store.
  func store(
    _ environment: [String: String], errors: any OutputSink
  ) throws(SettingsError) -> (any AnswerStore)? {
    switch place {
    case .memory: return nil
    case .file:
      return SQLiteAnswerStore(SQLiteStoreConfiguration(path: try path(environment) ?? "")) {
        // Whoever closed standard error does not want to know.
        try? errors.write("dnsctl: \($0)\n")
      }
    case .server(let url):
      do throws(DirectDNSError) { return RedisAnswerStore(try RedisStoreConfiguration(url: url)) } catch {
        throw SettingsError(fault(error.message))
      }
    }
  }

  /// The file that the store is in; nil if it is in none.
  func path(_ environment: [String: String]) throws(SettingsError) -> String? {
    guard case .file(let named) = place else { return nil }
    if let named { return named }
    // The base directory specification wants absolute paths and ignores others.
    if let folder = environment["XDG_CACHE_HOME"], folder.hasPrefix("/") { return folder + "/directdns/answers.sqlite" }
    guard let home = environment["HOME"], home.hasPrefix("/") else {
      throw SettingsError(fault("There is no cache folder, since HOME is not set. Name a file: sqlite:PATH."))
    }
    return home + "/.cache/directdns/answers.sqlite"
  }
}
