// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS
internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// What a load hands to Foundation, on the queue where that may be; nothing after its end.
final class LoadReceiver: Sendable {
  /// Whether a body is handed on piece by piece.
  let streams: Bool
  private let queue = LoadingQueue.current
  private let loader: Locked<Loader?>

  // Its protocol is used on the queue alone.
  private struct Loader: @unchecked Sendable {
    let urlProtocol: URLProtocol
  }

  init(_ urlProtocol: URLProtocol, streams: Bool) {
    loader = Locked(Loader(urlProtocol: urlProtocol))
    self.streams = streams
  }

  func receive(_ response: URLResponse) async {
    await deliver { $1.urlProtocol($0, didReceive: response, cacheStoragePolicy: .notAllowed) }
  }

  func receive(_ data: Data) async {
    await deliver { $1.urlProtocol($0, didLoad: data) }
  }

  func finish() async {
    await deliver(isLast: true) { $1.urlProtocolDidFinishLoading($0) }
  }

  func fail(_ error: URLError) async {
    await deliver(isLast: true) { $1.urlProtocol($0, didFailWithError: error) }
  }

  /// Whether Foundation may be told of a redirect; on Linux that ends the process.
  static var takesRedirects: Bool {
    #if canImport(Darwin)
      true
    #else
      false
    #endif
  }

  /// Foundation asks the delegate, and starts a protocol anew for what it answers.
  func redirect(to request: URLRequest, _ response: URLResponse) async {
    await deliver(isLast: true) {
      $1.urlProtocol($0, wasRedirectedTo: request, redirectResponse: response)
      $1.urlProtocol($0, didFailWithError: CocoaError(.userCancelled))
    }
  }

  /// Hands over nothing more.
  func end() { loader.withLock { $0 = nil } }

  private func deliver(
    isLast: Bool = false, _ call: @escaping @Sendable (URLProtocol, any URLProtocolClient) -> Void
  ) async {
    await withCheckedContinuation { continuation in
      queue.run { [loader] in
        let loader = loader.withLock { loader in
          defer { if isLast { loader = nil } }
          return loader
        }
        if let urlProtocol = loader?.urlProtocol, let client = urlProtocol.client { call(urlProtocol, client) }
        continuation.resume()
      }
    }
  }
}
