// SPDX-License-Identifier: Apache-2.0
extension WebURL {
  /// The URL as it is requested: without user info and fragment.
  var requested: WebURL { hasUserInfo || layout.queryEnd < href.utf8.count ? requested(from: host) : self }

  /// The URL as it is requested from a host: without user info and fragment.
  func requested(from host: Host) -> WebURL {
    let text = text(host: host, userInfo: false, fragment: false)
    var layout = layout
    let hostEnd = UInt32(text.utf8.count) - (layout.queryEnd - layout.hostEnd)
    // Unsigned: what moved to the left has gone round once.
    let shift = hostEnd &- layout.hostEnd
    layout.usernameEnd = layout.authorityStart
    layout.hostStart = layout.authorityStart
    layout.hostEnd = hostEnd
    layout.pathStart &+= shift
    layout.pathEnd &+= shift
    layout.queryEnd &+= shift
    layout.address = Layout.HostAddress(host)
    return WebURL(href: text, layout: layout)
  }
}
