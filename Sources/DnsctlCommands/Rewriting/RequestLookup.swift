// SPDX-License-Identifier: Apache-2.0
internal import DirectDNS

/// Looks a request's host up, unless its address is given, and rewrites it.
struct RequestLookup: Sendable {
  let rewriter: RequestRewriter
  let resolver: DirectResolver
  let options: LookupOptions

  func rewrite(_ input: RewriteInput) async -> RewriteResult {
    func result(_ addresses: [IPAddress], _ error: DirectDNSError? = nil) -> RewriteResult {
      RewriteResult(
        text: input.text, outcome: rewriter.rewrite(input.request, using: addresses), lookupError: error)
    }
    if let address = input.address { return result([address]) }
    // A request that is bypassed or refused anyway needs no lookup.
    guard case .bypassed(_, .noAddress) = rewriter.rewrite(input.request, using: []),
      let url = try? WebURL(input.request), let host = try? HostName(url.host)
    else { return result([]) }
    do throws(DirectDNSError) {
      return result(Array(try await resolver.resolve(host, options: options).addresses))
    } catch {
      guard error.code != .refused else {
        return RewriteResult(text: input.text, outcome: .refused(error))
      }
      return result([], error)
    }
  }
}
