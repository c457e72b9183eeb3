// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization

/// Resumes tasks that wait for what a loop's thread has brought.
///
/// Resumed by that thread, each could wake a thread of the shared pool that takes the processor at once and is asleep
/// again before the next one is resumed: two switches of threads for each, which cost more than all else that is done
/// for a lookup. So several are resumed from libdispatch's global queue: where tasks block all threads of the shared
/// pool, it starts another one. But tasks that run on the loop's thread are best resumed by it.
final class TaskResumption: Sendable {
  /// How many more times tasks are resumed by this thread: some have run on it a moment ago.
  private let timesHere = Atomic<Int>(0)

  /// Long enough for a task whose next result is some turns of the loop away while others are busy; not for ever, since
  /// it may have been the last one that ran there.
  private static let timesAfterTask = 64

  /// Tasks are about to run on the loop's thread.
  func willRunTasks() { timesHere.store(Self.timesAfterTask, ordering: .relaxed) }

  /// Resumes so many tasks by `resume`, from this thread or from one of libdispatch's.
  func resume(_ count: Int, by resume: @escaping @Sendable () -> Void) {
    let times = timesHere.load(ordering: .relaxed)
    if times > 0 { timesHere.store(times - 1, ordering: .relaxed) }
    if count > 1, times == 0 { DispatchQueue.global().async { resume() } } else { resume() }
  }
}
