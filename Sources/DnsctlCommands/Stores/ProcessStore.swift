// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Synchronization

/// The process's own store, which stays open until the process ends.
///
/// Whoever closes a SQLite file last removes its log, which the next process would have to make again. What was written is
/// brought into the file at the end of each command (``AnswerStore/checkpoint()``), and costs those nothing that wrote
/// nothing.
enum ProcessStore {
  private static let kept = Mutex<(any AnswerStore)?>(nil)

  static func keep(_ store: (any AnswerStore)?) { kept.withLock { $0 = store } }
}
