// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

#if canImport(FoundationNetworking)
  internal import Foundation
  public import FoundationNetworking
#else
  public import Foundation
#endif

/// Lets the http and https requests of a `URLSession` go direct.
///
/// `configuration.goDirect(through: client)` is how a session gets one with a client, cookies, headers and timeouts of its own.
/// Where this class itself stands in `protocolClasses`, its sessions share a client of the default configuration, and
/// Foundation's shared cookie storage.
public class DirectURLProtocol: URLProtocol {
  /// What the tasks go by.
  class var route: LoadingRoute { .standard }

  // Touched where Foundation calls a protocol: on Linux its queue, elsewhere the loading thread.
  private var load: Load?

  /// Takes every request of http and https, except to names for which the client's ``DirectSwitch`` is off: those go
  /// the session's own way, where no ``AddressPolicy`` holds.
  public override class func canInit(with request: URLRequest) -> Bool {
    guard let url = request.url, let scheme = url.scheme?.lowercased() else { return false }
    return (scheme == "http" || scheme == "https") && route.takes(url)
  }

  /// A request as it is.
  public override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

  /// Nothing is cached.
  public override class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool { false }

  /// Begins, or goes on after ``stopLoading()`` where the task was suspended.
  public override func startLoading() {
    if let load { return load.resume() }
    if let error = TaskRefusal.error(for: task, request) {
      client?.urlProtocol(self, didFailWithError: error)
      return
    }
    let load = Load(request, Self.route, LoadReceiver(self, streams: Self.streams(to: task)))
    self.load = load
    load.start()
  }

  /// Ends the transfer at once; on Linux it only waits where the task was suspended.
  public override func stopLoading() {
    #if !canImport(Darwin)
      // Also told so for a task that runs: it was suspended and has been resumed since.
      if let state = task?.state, state == .suspended || state == .running {
        load?.pause()
        return
      }
    #endif
    load?.cancel()
  }

  private static func streams(to task: URLSessionTask?) -> Bool {
    #if canImport(Darwin)
      true
    #else
      route.streamsToDelegate && task?.delegate is any URLSessionDataDelegate
    #endif
  }
}
