internal import HTTPTypes

/// Where a request goes once it was looked up and judged.
struct RequestTarget: Sendable {
  /// What is requested: the name, no user info, no fragment.
  let url: WebURL
  /// What the caller asked for.
  let original: WebURL
  private(set) var fields: HTTPFields
  /// The addresses that may be connected to, in the order of use.
  private(set) var addresses: [IPAddress]
  let proxy: CurlProxy?
  private let direct: DirectRequest?
  var resolution: Resolution?
  /// The family that the lookup did not wait for.
  var others: OtherFamily?
  var lookup = Duration.zero

  /// A request that goes straight to an address of a name.
  init(_ direct: DirectRequest) {
    url = direct.url
    original = direct.originalURL
    fields = direct.request.headerFields
    addresses = direct.addresses
    proxy = nil
    self.direct = direct
  }

  /// A request that is sent as it is: for an address, or through a proxy.
  init(_ request: HTTPRequest, _ url: WebURL, _ addresses: [IPAddress], proxy: CurlProxy?) {
    self.url = url.requested
    original = url
    var fields = request.headerFields
    fields[.proxyAuthorization] = nil
    if fields[.authorization] == nil { fields[.authorization] = url.basicCredentials }
    self.fields = fields
    self.addresses = addresses
    self.proxy = proxy
    direct = nil
  }

  /// Whether the request goes to this machine, wherever it is tried.
  var staysOnMachine: Bool {
    proxy == nil && others == nil && !addresses.isEmpty && addresses.allSatisfy(\.isLoopback)
  }

  /// Tries an address after all others.
  mutating func moveToEnd(_ address: IPAddress?) {
    guard let address, let index = addresses.firstIndex(of: address) else { return }
    addresses.append(addresses.remove(at: index))
  }

  /// Leaves out an expectation that the server refused (RFC 9110 §10.1.1).
  mutating func dropExpectation() { fields[.expect] = nil }

  /// The answer that named an address; nothing through a proxy.
  func resolution(of address: IPAddress?) -> Resolution? {
    guard proxy == nil else { return nil }
    if let address, let other = others?.resolution, other.addresses.contains(address) { return other }
    return resolution
  }

  /// A response with the name put back where an address of the name stands.
  func restore(_ response: HTTPResponse) -> HTTPResponse {
    guard let direct else { return response }
    guard let other = others?.resolution else { return ResponseRestorer.restore(response, for: direct) }
    return ResponseRestorer(originalURL: direct.originalURL, addresses: direct.answer + other.addresses).restore(
      response)
  }
}
