// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct LoopMailboxTests {
  @Test func `a mailbox that was stopped takes nothing, and lets nobody wait`() {
    let mailbox = LoopMailbox<CurlQueries>(())
    var commands: [CurlQueries.Command] = []
    #expect(mailbox.mayWait())
    #expect(!mailbox.take(into: &commands))
    mailbox.stop()
    #expect(!mailbox.mayWait())
    #expect(!mailbox.post(.start(CurlQuery(.sample("http://127.0.0.1:1/"), for: Nobody()))))
    #expect(mailbox.take(into: &commands) && commands.isEmpty)
  }

  @Test func `why a mailbox takes nothing is that it was stopped, or that no thread can begin`() {
    let mailbox = LoopMailbox<CurlQueries>(())
    #expect(mailbox.refusal == .noSocket("this process may open no further files (ulimit -n)"))
    mailbox.stop()
    #expect(mailbox.refusal == .shutDown)
  }

  @Test func `a thread that cannot be started is told at once, and tried again by the next command`() {
    let canStart = Locked(false)
    let mailbox = LoopMailbox<CurlQueries>(()) { name, body in
      canStart.withLock { $0 } && WorkerThread.start(name, body)
    }
    let command = CurlQueries.Command.cancel(CurlQuery(.sample("http://127.0.0.1:1/"), for: Nobody()))
    #expect(!mailbox.post(command) && !mailbox.isRunning)
    #expect(
      mailbox.refusal == .noSocket("this process may start no further threads (ulimit -u, or its container's pids.max)")
    )
    canStart.withLock { $0 = true }
    #expect(mailbox.post(command) && mailbox.isRunning)
    mailbox.stop()
  }

  private final class Nobody: CurlRecipient {
    func receive(_ queries: ArraySlice<CurlQuery>) {}
  }
}

/// What the thread tells its driver, and when it ends.
@Suite(.timeLimit(.minutes(1)))
struct LoopThreadTests {
  @Test func `a command is carried out, and followed by a turn that has news`() async {
    let diary = Diary()
    let loop = Loop<DiaryDriver>(.init(diary: diary))
    #expect(!loop.mailbox.isRunning)
    #expect(loop.post("one"))
    #expect(await diary.first(3) == ["made", "one", "turn with news"])
    loop.stop()
    #expect(await diary.first(5).suffix(2) == ["stop", "close"])
    #expect(!loop.post("two"))
  }

  @Test func `a time that has come is a turn without news`() async {
    let diary = Diary()
    let loop = Loop<DiaryDriver>(.init(diary: diary, isDueOnce: true))
    #expect(loop.post("one"))
    #expect(await diary.first(4) == ["made", "one", "turn with news", "turn without news"])
    loop.stop()
  }

  @Test func `a thread that is woken has news for its driver, and nobody is woken where there is none`() async {
    let diary = Diary()
    let loop = Loop<DiaryDriver>(.init(diary: diary))
    loop.wake()
    #expect(!loop.mailbox.isRunning)
    #expect(loop.post("one"))
    _ = await diary.first(3)
    loop.wake()
    #expect(await diary.first(4).last == "turn with news")
    loop.stop()
  }

  @Test func `a thread with nothing to wait for ends after the driver's limit, and begins again`() async {
    let diary = Diary()
    let loop = Loop<DiaryDriver>(.init(diary: diary, idleLimit: 1))
    for round in 1...3 {
      #expect(loop.post("again"))
      #expect(await diary.first(round * 6).suffix(6) == ["made", "again", "turn with news", "stop", "close", "freed"])
    }
    #expect(!loop.mailbox.isRunning)
  }

  @Test func `all who end a loop go on when its driver has been freed`() async {
    let diary = Diary()
    let loop = Loop<DiaryDriver>(.init(diary: diary))
    #expect(loop.post("one"))
    await withTaskGroup(of: [String].self) { group in
      for _ in 0..<3 {
        group.addTask {
          await loop.end()
          return diary.entries
        }
      }
      for await entries in group { #expect(entries.suffix(2) == ["close", "freed"]) }
    }
    await loop.end()
    #expect(!loop.post("two") && diary.entries.count { $0 == "made" } == 1)
    #expect(DiaryDriver.ended.withLock(\.self) > 0)
  }

  @Test func `a command about what a thread has starts none`() async {
    let diary = Diary()
    let loop = Loop<DiaryDriver>(.init(diary: diary))
    loop.tell("one")
    #expect(!loop.mailbox.isRunning)
    #expect(loop.post("two"))
    loop.tell("three")
    await loop.end()
    #expect(diary.entries.filter { ["one", "two", "three"].contains($0) } == ["two", "three"])
  }

  @Test func `a loop that has no thread, or whose thread has ended for being idle, ends at once`() async {
    await Loop<DiaryDriver>(.init(diary: Diary())).end()
    let diary = Diary()
    let loop = Loop<DiaryDriver>(.init(diary: diary, idleLimit: 1))
    #expect(loop.post("one"))
    _ = await diary.first(6)
    await loop.end()
    #expect(diary.entries.count == 6)
  }

  @Test func `a wait that ends before its time does not end the thread`() async throws {
    let diary = Diary()
    let mailbox = LoopMailbox<DiaryDriver>(.init(diary: diary)) { _, _ in true }
    #expect(mailbox.post("one"))
    let wakeUp = try #require(WakeUp())
    let system = InterruptedWait()
    let poller = Poller(wakeUp, system: system)
    let driver = try #require(
      DiaryDriver(.init(diary: diary, idleLimit: 500), poller: poller, resumption: mailbox.resumption))
    LoopThread(mailbox: mailbox, driver: driver, poller: poller).run()
    #expect(system.waits.count >= 3 && system.waits.allSatisfy { 1...500 ~= $0 })
    #expect(!mailbox.isRunning)
  }

  @Test func `a server that has gone is no signal for the process, unless the thread runs its tasks`() async {
    let (own, shared) = (Locked<Bool?>(nil), Locked<Bool?>(nil))
    await withCheckedContinuation { caller in
      let loop = Loop<MaskDriver<OwnThread>>(caller)
      #expect(loop.post(own))
    }
    await withCheckedContinuation { caller in
      let loop = Loop<MaskDriver<SharedThread>>(caller)
      #expect(loop.post(shared))
    }
    #expect(own.withLock(\.self) == true && shared.withLock(\.self) == false)
  }

  @Test func `a driver that cannot be made is a loop that takes nothing`() {
    let loop = Loop<DiaryDriver>(.init(diary: nil))
    #expect(!loop.post("one") && !loop.mailbox.isRunning)
  }
}

/// What a driver was told, in order.
private final class Diary: Sendable {
  private let state = Locked<(entries: [String], waiter: (count: Int, caller: CheckedContinuation<Void, Never>)?)>(
    ([], nil))

  func write(_ entry: String) {
    state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.entries.append(entry)
      guard let waiter = state.waiter, state.entries.count >= waiter.count else { return nil }
      state.waiter = nil
      return waiter.caller
    }?.resume()
  }

  var entries: [String] { state.withLock(\.entries) }

  /// The first so many entries, as soon as they are there.
  func first(_ count: Int) async -> [String] {
    await withCheckedContinuation { caller in
      let isThere = state.withLock { state in
        guard state.entries.count < count else { return true }
        state.waiter = (count, caller)
        return false
      }
      if isThere { caller.resume() }
    }
    return Array(entries.prefix(count))
  }
}

/// Writes down what it is told.
private final class DiaryDriver: LoopDriver {
  struct Settings: Sendable {
    var diary: Diary?
    var isDueOnce = false
    var idleLimit: Int64?
  }

  static var threadName: String { "diary" }
  let idleLimit: Int64?
  var now = LoopTime.now
  private let diary: Diary
  private var isDue: Bool

  init?(_ settings: Settings, poller: Poller, resumption: TaskResumption) {
    guard let diary = settings.diary else { return nil }
    (self.diary, isDue, idleLimit) = (diary, settings.isDueOnce, settings.idleLimit)
    diary.write("made")
  }

  func carryOut(_ command: String) { diary.write(command) }

  func act(on socket: CInt, _ ready: Poller.Interest, owner: UInt8) { diary.write("socket") }

  func turn(hasNews: Bool) -> Int64 {
    diary.write(hasNews ? "turn with news" : "turn without news")
    defer { isDue = false }
    return isDue ? now : .max
  }

  func stop() { diary.write("stop") }

  func close() { diary.write("close") }

  static func threadEnds() { ended.withLock { $0 += 1 } }

  /// How many threads have ended.
  static let ended = Locked(0)

  deinit { diary.write("freed") }
}

/// Waits for nothing, as if a signal had come, the first two times.
private final class InterruptedWait: PollerWait {
  private let wait = PollWait()
  private(set) var waits: [CInt] = []

  func register(_ socket: CInt, _ interest: Poller.Interest, insteadOf before: Poller.Interest) -> Bool {
    wait.register(socket, interest, insteadOf: before)
  }

  func wait(_ milliseconds: CInt) -> Int {
    waits.append(milliseconds)
    return waits.count < 3 ? 0 : wait.wait(milliseconds)
  }

  func event(_ index: Int) -> (descriptor: CInt, ready: Poller.Interest) { wait.event(index) }
}

private protocol ThreadUse: SendableMetatype { static var runsTasks: Bool { get } }
private enum OwnThread: ThreadUse { static var runsTasks: Bool { false } }
private enum SharedThread: ThreadUse { static var runsTasks: Bool { true } }

/// Looks which signals its thread takes, and ends.
private final class MaskDriver<Use: ThreadUse>: LoopDriver {
  static var threadName: String { "mask" }
  static var runsTasks: Bool { Use.runsTasks }
  var now = LoopTime.now
  private let caller: CheckedContinuation<Void, Never>

  init?(_ caller: CheckedContinuation<Void, Never>, poller: Poller, resumption: TaskResumption) {
    self.caller = caller
  }

  func carryOut(_ found: Locked<Bool?>) {
    found.withLock { $0 = SignalMask.blocksSIGPIPE }
    caller.resume()
  }

  func act(on socket: CInt, _ ready: Poller.Interest, owner: UInt8) {}

  func turn(hasNews: Bool) -> Int64 { .max }

  func stop() {}

  func close() {}
}
