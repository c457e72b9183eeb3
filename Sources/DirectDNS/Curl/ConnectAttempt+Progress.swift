// SPDX-License-Identifier: Apache-2.0
internal import CDirectDNSCurl

/// How far an attempt's request and its response have come.
extension ConnectAttempt {
  /// Identifies its connection, by both addresses and the local port; nil before it has one.
  var connection: [String]? {
    guard let remote = handle.text(CURLINFO_PRIMARY_IP), let local = handle.text(CURLINFO_LOCAL_IP), !local.isEmpty
    else {
      return nil
    }
    return [remote, local, "\(handle.number(CURLINFO_LOCAL_PORT))"]
  }

  /// Whether the whole response has come, by its length.
  var hasWholeBody: Bool {
    guard let transfer, lines?.isHeadComplete == true else { return false }
    if [204, 304].contains(handle.number(CURLINFO_RESPONSE_CODE)) { return true }
    let length = handle.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
    guard transfer.request.message.decompresses else { return transfer.progress.received == length }
    // The length is that of the encoded body. What is held back has come, but nobody has it yet.
    return receiving == .handingOver && handle.offset(CURLINFO_SIZE_DOWNLOAD_T) == length
  }

  /// Whether the end of its connection would cut the response, as far as its length tells.
  var lacksResponse: Bool {
    guard lines?.isHeadComplete == true else { return true }
    return handle.offset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) >= 0 && !hasWholeBody
  }

  /// Whether it carries the request, and the server has said that it has not processed it.
  var isUnprocessed: Bool { streamTrace.isUnprocessed && lines?.isUsed == false && transfer?.carrier === self }

  /// Whether the response's status is one of success: then the server may still want the rest of the request's body.
  var isAccepted: Bool { (200..<300).contains(handle.number(CURLINFO_RESPONSE_CODE)) }

  /// Whether the request has a body that is not empty, or whose source may write something; see ``hasSentBody``.
  var hasBody: Bool {
    switch transfer?.request.body {
    case nil, .none?: false
    case .bytes(let bytes)?: !bytes.isEmpty
    case .pulled?: true
    }
  }

  /// Whether libcurl has sent anything of the request's body.
  var hasBegunBody: Bool { handle.offset(CURLINFO_SIZE_UPLOAD_T) > 0 }

  /// Whether a transfer that is said to have failed to send has ended its stream with the last of the request.
  ///
  /// That is missing in what libcurl counts then. Of a connection that is lost libcurl says why.
  var hasEndedStream: Bool { CurlVersion.failsAtEndOfStream && handle.isHTTP2 && handle.failureText.isEmpty }

  /// Whether libcurl has sent the whole body of the request.
  ///
  /// Over HTTP/1.1 it counts the heads of chunks too, so that the last of their bytes may be missing.
  var hasSentBody: Bool {
    guard let transfer else { return false }
    let sent = handle.offset(CURLINFO_SIZE_UPLOAD_T)
    switch transfer.request.body {
    case .none: return true
    case .bytes(let bytes): return sent >= bytes.count
    case .pulled(let upload):
      let (read, length) = (transfer.progress.sent, upload.length)
      return sent >= read && (hasReadBody || read == length)
    }
  }
}
