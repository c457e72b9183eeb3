// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS

struct WarmupEventTests {
  private func outcome(_ result: Result<DirectResolver.Renewal, DirectDNSError>) -> WarmupOutcome {
    WarmupOutcome(host: Sample.name("a.example"), result: result, tries: 1, duration: .zero)
  }

  private func renewal(
    _ source: Resolution.Source, _ freshness: Resolution.Freshness, wasAsked: Bool
  ) -> DirectResolver.Renewal {
    DirectResolver.Renewal(
      resolution: Resolution(
        addresses: [.ipv4(1)], canonicalName: nil, freshness: freshness, source: source, ageNanoseconds: 0,
        timeToLiveNanoseconds: freshness <= .due ? 1 : -1), wasAsked: wasAsked)
  }

  @Test(arguments: [
    (Resolution.Source.provider("one"), Resolution.Freshness.fresh, true, WarmupOutcome.Kind.resolved),
    (.system, .fresh, true, .resolved), (.store, .fresh, true, .fromStore), (.store, .stale, true, .fromStore),
    (.provider("one"), .fresh, false, .fromCache), (.provider("one"), .stale, true, .fromCache),
    (.provider("one"), .due, true, .fromCache), (.store, .fresh, false, .fromCache), (.pin, .fresh, false, .fromCache),
    (.local, .fresh, false, .fromCache),
  ])
  func `an answer counts by where it is from`(
    _ source: Resolution.Source, _ freshness: Resolution.Freshness, _ wasAsked: Bool, _ kind: WarmupOutcome.Kind
  ) {
    let outcome = outcome(.success(renewal(source, freshness, wasAsked: wasAsked)))
    #expect(outcome.kind == kind)
    #expect(outcome.isExpired == (freshness > .due))
  }

  @Test(arguments: [
    (DirectDNSError.Code.nameNotFound, WarmupOutcome.Kind.negative), (.noAddress, .negative),
    (.upstreamFailed, .failed), (.timedOut, .failed), (.refused, .failed), (.cancelled, .unfinished),
    (.shutDown, .unfinished),
  ])
  func `an error is a negative answer, a failure, or no outcome`(
    _ code: DirectDNSError.Code, _ kind: WarmupOutcome.Kind
  ) {
    #expect(outcome(.failure(DirectDNSError(code, "x"))).kind == kind)
  }

  private func rejection(_ content: WarmupSource.Entry.Content) -> WarmupRejection? {
    let entry = WarmupSource.Entry(content: content, place: WarmupPlace(source: "hosts.txt", line: 7))
    if case .failure(let rejection) = WarmupRejection.name(of: entry) { return rejection }
    return nil
  }

  @Test(arguments: ["192.0.2.1", "2001:db8::1", "[2001:db8::1]", "0x7f.1"])
  func `an address is no name to look up, and is told so`(_ text: String) {
    let rejection = rejection(.host(text))
    #expect(rejection?.description.hasPrefix("hosts.txt:7: ") == true)
    #expect(rejection?.reason.contains("never looked up") == true)
    #expect(rejection?.text == text)
  }

  @Test(arguments: ["a..example", "https://a.example/", "a.example b.example", "-\u{7}.example", "a.example:443"])
  func `what is no name is told with its reason`(_ text: String) {
    let rejection = rejection(.host(text))
    #expect(rejection?.place == WarmupPlace(source: "hosts.txt", line: 7))
    #expect(rejection?.reason.isEmpty == false)
    #expect(rejection?.reason.contains("\u{7}") == false)
    #expect(rejection?.text == (text.hasPrefix("-") ? #"-\u{07}.example"# : text), "no quotes but JSON's")
  }

  @Test func `a line that cannot be read is told with its reason`() {
    #expect(rejection(.unreadable("the line is not UTF-8"))?.description == "hosts.txt:7: the line is not UTF-8")
  }

  @Test func `an entry without a place is told by itself`() {
    let entry = WarmupSource.Entry(content: .host("a..example"), place: nil)
    guard case .failure(let rejection) = WarmupRejection.name(of: entry) else {
      Issue.record("it was taken for a name")
      return
    }
    let advice = "leave out a dot at its beginning, or one of two in a row"
    #expect(rejection.description == "the host name \"a..example\" has an empty label: \(advice)")
  }

  @Test(arguments: ["a.example", "A.EXAMPLE.", "xn--bcher-kva.example", "Bücher.example"])
  func `a name is a name however it is spelled`(_ text: String) {
    #expect(rejection(.host(text)) == nil)
  }
}
