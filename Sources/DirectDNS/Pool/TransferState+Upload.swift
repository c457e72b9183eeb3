// SPDX-License-Identifier: Apache-2.0
/// An upload that goes on behind its response, or waits for its source.
extension TransferState {
  /// Milliseconds between two looks at an upload whose source has nothing to send although the response has begun: before
  /// 8.7 libcurl does not end a transfer that waits for its body, even if the server wants no more of it.
  private static let starvedLook: Int64 = 50
  /// Milliseconds without a byte sent, after which an upload behind a complete response is looked at.
  ///
  /// If the server has reset the stream after its response (RFC 9113 §8.1), libcurl before 8.1 does not notice: it goes on
  /// trying to send, its socket is always writable, and nothing is sent. Nor does it always notice that the whole body
  /// is sent, if the response was there before.
  static let answeredLook: Int64 = 100

  var isStarved: Bool { starvedSince != nil }

  /// The source of the request's body has nothing to send at the moment.
  mutating func starved(at now: Int64) { starvedSince = now }

  /// The response is complete, and the request's body may not be.
  mutating func answered(at now: Int64) { if answeredSince == nil { answeredSince = now } }

  /// When its upload is looked at, with the response begun.
  var uploadLook: Int64 {
    min(
      starvedSince.map { $0 + Self.starvedLook } ?? .max, answeredSince.map { $0 + Self.answeredLook } ?? .max)
  }

  /// Whether an upload has to go on although its response has come: nobody has the whole response yet, or the server
  /// may want the rest, for which it waits for its source or for the connection.
  func hasToWait(_ upload: UploadFacts) -> Bool {
    if upload.isHeldBack { return true }
    guard upload.isAccepted, !upload.hasSentBody else { return false }
    return isStarved || upload.isBlocked
  }

  enum UploadLook {
    /// Have libcurl continue it: if the server wants no more, the transfer ends.
    case resume
    /// Find out whether it has a reason to wait.
    case check
  }

  /// Begins the looks at its upload that are due, and their time anew.
  mutating func takeUploadLooks(at now: Int64) -> [UploadLook] {
    guard phase == .receiving, uploadLook <= now else { return [] }
    var looks: [UploadLook] = []
    if let since = answeredSince, since + Self.answeredLook <= now {
      answeredSince = now
      looks.append(.check)
    }
    if let since = starvedSince, since + Self.starvedLook <= now {
      starvedSince = now
      looks.append(.resume)
    }
    return looks
  }
}

/// What libcurl and the kernel say of an upload behind a complete response.
struct UploadFacts {
  /// Whether libcurl holds back a part of the response, since its reader is behind.
  var isHeldBack = false
  /// Whether the response's status is one of success: then the server may still want the rest.
  var isAccepted = false
  /// Whether libcurl has sent the whole body.
  var hasSentBody = false
  /// Whether the connection takes no more at the moment.
  var isBlocked = false
}
