// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

#if !canImport(Darwin)

  /// Where a protocol may call its client.
  ///
  /// Foundation on Linux keeps its table of tasks without a lock, for a queue that all sessions share and that it shows
  /// to nobody: a client called from another thread reads the table while it changes, and now and then the process ends.
  /// A protocol is started on that queue, and again each time that a running task is resumed: resuming a task
  /// of a session of our own leads there.
  struct LoadingQueue: Sendable {
    /// The queue to come back to from the one that a protocol is started on.
    static let current = LoadingQueue()

    /// Runs work there, in the order of the calls; never to be called from there.
    func run(_ work: @escaping @Sendable () -> Void) { LoadingQueueTask.shared.run(work) }
  }

  private final class LoadingQueueTask: Sendable {
    /// Made at the first use and so never on the queue, where making a task would wait for itself.
    static let shared = LoadingQueueTask()

    private let waiting = Locked<[@Sendable () -> Void]>([])
    private let task: URLSessionDataTask

    private init() {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.protocolClasses = [LoadingQueueProtocol.self]
      configuration.urlCache = nil
      task = URLSession(configuration: configuration).dataTask(with: URLRequest(url: URL(filePath: "/")))
    }

    func run(_ work: @escaping @Sendable () -> Void) {
      let isFirst = waiting.withLock { waiting in
        waiting.append(work)
        return waiting.count == 1
      }
      if isFirst { task.resume() }
    }

    func runWaiting() {
      let work = waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
      for block in work { block() }
    }
  }

  private final class LoadingQueueProtocol: URLProtocol {
    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func startLoading() { LoadingQueueTask.shared.runWaiting() }
    override func stopLoading() {}
  }

#else

  /// Where a protocol may call its client: the thread that it was started on, whose run loop is in whatever mode.
  final class LoadingQueue: Sendable {
    private let loop: Locked<CFRunLoop>

    private init(_ loop: sending CFRunLoop) { self.loop = Locked(loop) }

    /// The queue to come back to from the thread that a protocol is started on.
    static var current: LoadingQueue { LoadingQueue(CFRunLoopGetCurrent()) }

    /// Runs work there, in the order of the calls.
    func run(_ work: @escaping @Sendable () -> Void) {
      loop.withLock { loop in
        CFRunLoopPerformBlock(loop, CFRunLoopMode.commonModes.rawValue, work)
        CFRunLoopWakeUp(loop)
      }
    }
  }

#endif
