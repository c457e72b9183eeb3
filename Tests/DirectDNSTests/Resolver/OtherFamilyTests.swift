// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import DirectDNS
@testable import DirectDNSTesting

@Suite(.timeLimit(.minutes(1)))
struct OtherFamilyTests {
  private static let address = Sample.address("192.0.2.1")
  private static let found = Resolution(
    addresses: [address], canonicalName: nil, freshness: .fresh, source: .system, ageNanoseconds: 0,
    timeToLiveNanoseconds: 0)

  private let looks = Watched(0)
  private let delivered = Watched<[[IPAddress]]>([])
  private let told = Watched(0)

  /// One whose lookup ends as it says, or never.
  private func family(
    known: OtherFamily.Outcome? = nil, look: OtherFamily.Outcome? = nil
  ) -> OtherFamily {
    let family = OtherFamily(.ipv4) {
      known
    } look: { [looks] () async throws(DirectDNSError) in
      looks.change { $0 += 1 }
      guard let look else {
        await Watched(false).wait { $0 }
        throw DirectDNSError(.cancelled, "")
      }
      return try look.get()
    } observer: { [told] _ in
      told.change { $0 += 1 }
    }
    family.setReceiver { [delivered] addresses in delivered.change { $0.append(addresses) } }
    return family
  }

  @Test func `what is known is there at once, and nobody is asked`() async {
    let family = family(known: .success(Self.found))
    #expect(family.ask() == [Self.address] && family.ask() == [Self.address])
    #expect(looks.value == 0 && delivered.value.isEmpty && told.value == 1)
    #expect(family.resolution == Self.found && family.failure == nil)
  }

  @Test(arguments: [true, false]) func `whoever waits is let go when it is over`(_ isFound: Bool) async {
    final class Waiting: Sendable {
      let isGone: Watched<Bool>

      init(_ isGone: Watched<Bool>) { self.isGone = isGone }

      deinit { isGone.change { $0 = true } }
    }
    let isGone = Watched(false)
    let family = isFound ? family(look: .success(Self.found)) : family()
    do {
      let object = Waiting(isGone)
      family.setReceiver { [delivered] addresses in
        withExtendedLifetime(object) { delivered.change { $0.append(addresses) } }
      }
    }
    #expect(!isGone.value)
    _ = family.ask()
    if isFound { await delivered.wait { !$0.isEmpty } } else { family.cancel() }
    #expect(await isGone.wait { $0 })
  }

  @Test func `that there are none is known, too`() {
    let family = family(known: .failure(DirectDNSError(.noAddress, "none")))
    #expect(family.ask() == [])
    #expect(looks.value == 0 && family.failure == nil)
  }

  @Test func `what is not known is looked up once, and delivered once`() async {
    let family = family(look: .success(Self.found))
    #expect(family.ask() == nil)
    await delivered.wait { !$0.isEmpty }
    #expect(family.ask() == [Self.address])
    #expect((try? await family.outcome().get()) == Self.found)
    #expect(delivered.value == [[Self.address]] && looks.value == 1 && told.value == 1)
  }

  @Test(arguments: [
    (DirectDNSError.Code.noAddress, nil), (.nameNotFound, nil),
    (.upstreamFailed, "its ipv4 addresses could not be looked up (upstreamFailed)"),
  ])
  func `a lookup that fails delivers none, and says why if there may be some`(
    _ code: DirectDNSError.Code, _ text: String?
  ) async {
    let family = family(look: .failure(DirectDNSError(code, "no")))
    #expect(family.ask() == nil)
    await delivered.wait { !$0.isEmpty }
    #expect(delivered.value == [[]] && family.failure == text && family.resolution == nil && told.value == 0)
  }

  @Test func `one that was never asked is missed by nobody`() {
    #expect(family().failure == nil)
  }

  @Test func `one that is still being looked up when time is over is late`() async {
    let family = family()
    _ = family.ask()
    await looks.wait { $0 == 1 }
    #expect(family.failure == "its ipv4 addresses could not be looked up (timedOut)")
    family.cancel()
    await delivered.wait { $0 == [[]] }
  }
}
