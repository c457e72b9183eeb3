// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import DirectDNSConfiguration
internal import Synchronization

/// A store that a command works on, and what is needed to tell the freshness of its answers.
struct OpenStore: Sendable {
  let store: any AnswerStore
  /// What kind of store it is.
  let name: String
  /// The file that it is in; nil if there is none.
  let path: String?
  /// The configuration of how long answers are used.
  let policy: CachePolicy
  let now: WallInstant

  /// Opens the store of the settings, or else the file in the cache folder.
  ///
  /// - Parameters:
  ///   - settings: the settings of options, environment and configuration file.
  ///   - context: the command's context.
  ///   - makesFile: whether a missing file is created. Otherwise it is an error if the file was named, and the one in
  ///     the cache folder counts as empty: reading creates nothing.
  /// - Throws: if there is no such store.
  init(_ settings: DirectSettings, in context: CommandContext, makesFile: Bool) throws(CommandError) {
    let setting = settings.store ?? StoreSetting(place: .file(nil), origin: "--store")
    guard let opened = try context.openStore(setting) else {
      throw CommandError(
        setting.fault(
          "a store in memory ends with its process, so there is nothing to look into. Name a file or a server."))
    }
    name = opened.name
    path = try setting.path(context.environment)
    policy = settings.resolver.cache
    now = context.clock.wallNow
    guard !makesFile, let path, isMissing(path) else {
      store = opened
      return
    }
    guard setting.place == .file(nil) else {
      throw CommandError(.streams, "there is no store at \(path.printable). Check the path.")
    }
    store = MemoryAnswerStore()
  }

  func row(_ answer: StoredAnswer) -> StoredRow {
    StoredRow(answer: answer, state: answer.state(at: now, policy: policy))
  }

  // MARK: Calls

  /// The stored answers about a name, IPv4 first.
  func rows(_ host: HostName) async throws(CommandError) -> [StoredRow] {
    do throws(DirectDNSError) {
      let answers = try await store.read(IPAddress.Family.allCases.map { AddressQuestion(host, $0) })
      return answers.sorted { $0.question < $1.question }.map(row)
    } catch { throw CommandError(.streams, error.message) }
  }

  /// Visits all answers, a page at a time.
  ///
  /// - Returns: `value`, changed by every page.
  func visit<Value: Sendable>(
    _ value: Value, _ body: @Sendable (inout Value, [StoredRow]) throws(CommandError) -> Void
  ) async throws(CommandError) -> Value {
    let state = Mutex<Result<Value, CommandError>>(.success(value))
    do throws(DirectDNSError) {
      try await store.visit { page in
        let rows = page.map(row)
        return state.withLock { state in
          guard case .success(var value) = state else { return false }
          do throws(CommandError) {
            try body(&value, rows)
            state = .success(value)
            return true
          } catch {
            state = .failure(error)
            return false
          }
        }
      }
    } catch { throw CommandError(.streams, error.message) }
    return try state.withLock { $0 }.get()
  }

  func call(_ body: (any AnswerStore) async throws(DirectDNSError) -> Void) async throws(CommandError) {
    do throws(DirectDNSError) { try await body(store) } catch { throw CommandError(.streams, error.message) }
  }
}

extension AddressQuestion: Comparable {
  /// By name, IPv4 first.
  static func < (left: Self, right: Self) -> Bool {
    (left.host, left.family == .ipv4 ? 0 : 1) < (right.host, right.family == .ipv4 ? 0 : 1)
  }
}
