internal import DirectDNS
internal import Synchronization

/// The process's own store, which stays open until the process ends.
///
/// Whoever closes a SQLite file last has its log written back, and waits for the disk. The log may as well stay: the next
/// process goes on with it.
enum ProcessStore {
  private static let kept = Mutex<(any AnswerStore)?>(nil)

  static func keep(_ store: (any AnswerStore)?) { kept.withLock { $0 = store } }
}
