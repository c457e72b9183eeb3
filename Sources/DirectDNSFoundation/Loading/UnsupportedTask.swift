internal import DirectDNS

#if canImport(FoundationNetworking)
  internal import Foundation
  internal import FoundationNetworking
#else
  internal import Foundation
#endif

/// Tasks that a protocol cannot serve on Linux.
///
/// Foundation there keeps an upload's body to itself, and ends the process when a protocol of another's finishes a
/// download.
enum UnsupportedTask {
  static func error(for task: URLSessionTask?, _ request: URLRequest) -> URLError? {
    #if canImport(Darwin)
      nil
    #else
      switch task {
      case is URLSessionUploadTask:
        URLError(
          .requestBodyStreamExhausted, request.url,
          "Foundation on Linux does not show an upload task's body to a protocol: use a data task whose request has "
            + "httpBody or httpBodyStream, or DirectClient")
      case is URLSessionDownloadTask:
        URLError(
          .cannotCreateFile, request.url,
          "Foundation on Linux gives a protocol no way to finish a download task: use a data task, or DirectClient")
      case is URLSessionWebSocketTask:
        URLError(.unsupportedURL, request.url, "a web socket does not go direct: open it without this protocol")
      default: nil
      }
    #endif
  }
}
