// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

#if canImport(FoundationNetworking)
  internal import Foundation
  internal import FoundationNetworking
#else
  internal import Foundation
#endif

/// Tasks that are not begun.
///
/// Foundation on Linux keeps an upload's body to itself, and ends the process when a protocol of another's finishes a
/// download.
enum TaskRefusal {
  static func error(for task: URLSessionTask?, _ request: URLRequest) -> URLError? {
    guard request.cachePolicy != .returnCacheDataDontLoad else {
      return URLError(
        .resourceUnavailable, request.url, "the request is for a cache alone, and nothing that goes direct is cached")
    }
    #if canImport(Darwin)
      return nil
    #else
      switch task {
      case is URLSessionUploadTask:
        return URLError(
          .requestBodyStreamExhausted, request.url,
          "Foundation on Linux does not show an upload task's body to a protocol: use a data task whose request has "
            + "httpBody or httpBodyStream, or DirectClient")
      case is URLSessionDownloadTask:
        return URLError(
          .cannotCreateFile, request.url,
          "Foundation on Linux gives a protocol no way to finish a download task: use a data task, or DirectClient")
      case is URLSessionWebSocketTask:
        return URLError(.unsupportedURL, request.url, "a web socket does not go direct: open it without this protocol")
      default: return nil
      }
    #endif
  }
}
