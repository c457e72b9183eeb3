// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSConfiguration
internal import DirectDNSRedis
internal import DirectDNSSQLite

extension StoreSetting {
  /// The store; nil if answers are not stored.
  ///
  /// Nothing is opened or connected to before it is used.
  ///
  /// - Parameters:
  ///   - environment: names the cache folder.
  ///   - errors: where warnings go.
  /// - Returns: the store.
  /// - Throws: if there can be no such store.
  func store(
    _ environment: [String: String], errors: any OutputSink
  ) throws(CommandError) -> (any AnswerStore)? {
    switch place {
    case .memory: return nil
    case .file:
      return SQLiteAnswerStore(SQLiteStoreConfiguration(path: try path(environment) ?? "")) {
        // Errors are ignored: standard error may be closed on purpose.
        try? errors.write("dnsctl: \($0)\n")
      }
    case .server(let url):
      do throws(DirectDNSError) { return RedisAnswerStore(try RedisStoreConfiguration(url: url)) } catch {
        throw CommandError(fault(error.message))
      }
    }
  }

  /// The file that the store is in; nil if there is none.
  func path(_ environment: [String: String]) throws(CommandError) -> String? {
    guard case .file(let named) = place else { return nil }
    if let named { return named }
    // The XDG Base Directory Specification ignores paths that are not absolute.
    let isNamed = environment["XDG_CACHE_HOME"]?.hasPrefix("/") == true
    do throws(ConfigurationFault) {
      try EnvironmentSettings.check(isNamed ? "XDG_CACHE_HOME" : "HOME", in: environment)
    } catch { throw CommandError(fault(error.message)) }
    if isNamed, let folder = environment["XDG_CACHE_HOME"] { return folder + "/directdns/answers.sqlite" }
    guard let home = environment["HOME"], home.hasPrefix("/") else {
      let state = environment["HOME"] == nil ? "not set" : "not an absolute path"
      throw CommandError(fault("there is no cache folder, since HOME is \(state). Name a file: sqlite:PATH."))
    }
    return home + "/.cache/directdns/answers.sqlite"
  }
}
