// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Synchronization

/// The process's own store, which stays open until the process ends.
///
/// Closing a SQLite file for the last time removes its log, which the next process would have to create again. What was
/// written is moved into the file at the end of each command (``AnswerStore/checkpoint()``), which costs nothing if
/// nothing was written.
enum ProcessStore {
  private static let kept = Mutex<(any AnswerStore)?>(nil)

  static func keep(_ store: (any AnswerStore)?) { kept.withLock { $0 = store } }
}
