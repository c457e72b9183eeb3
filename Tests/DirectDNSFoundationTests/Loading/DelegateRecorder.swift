// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// A session's delegate that writes down what it is told.
final class DelegateRecorder: NSObject, URLSessionDataDelegate {
  struct Record: Sendable {
    var statuses: [Int] = []
    var sizes: [Int] = []
    var error: URLError?
  }

  private let state = Mutex(Record())
  private let suspendsAtFirstPiece: Bool
  private let suspension = AsyncStream.makeStream(of: Void.self)
  private let completion = AsyncStream.makeStream(of: Void.self)

  init(suspendsAtFirstPiece: Bool = false) { self.suspendsAtFirstPiece = suspendsAtFirstPiece }

  var record: Record { state.withLock { $0 } }

  /// Waits for the task's end.
  func end() async -> Record {
    for await _ in completion.stream {}
    return record
  }

  /// Waits until the task was suspended.
  func suspended() async { for await _ in suspension.stream {} }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    state.withLock { $0.statuses.append((response as? HTTPURLResponse)?.statusCode ?? 0) }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let isFirst = state.withLock { record in
      record.sizes.append(data.count)
      return record.sizes.count == 1
    }
    guard isFirst, suspendsAtFirstPiece else { return }
    dataTask.suspend()
    suspension.continuation.finish()
  }

  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
    state.withLock { $0.error = error as? URLError }
    completion.continuation.finish()
  }
}
