// SPDX-License-Identifier: Apache-2.0
@testable import DirectDNS

/// Those who look names up in a ``LookupWorld``, and what changes around them.
extension LookupWorld {
  mutating func call() {
    let host = hosts.randomElement(using: &random) ?? ResolverFixture.host
    let timeout: Duration? = chance(30) ? milliseconds(1...8000) : nil
    let request = LookupRequest(
      host: host, wanted: [.any, .ipv4, .ipv6].randomElement(using: &random) ?? .any, route: .providers,
      expired: ExpiredUse.allCases.randomElement(using: &random) ?? .allowed, timeout: timeout,
      purpose: chance(50) ? .handingOut : .connecting, prefersIPv6: chance(50))
    var caller = Caller(request: request, deadline: now + (timeout ?? machine.settings.configuration.timeout))
    let number: Number<DirectDNS.Lookup>
    switch Int.random(in: 0..<10, using: &random) {
    case 0: return machine.refreshBehind(request, at: now)
    case 1: return machine.askTogether(Array(hosts.prefix(3)), request.wanted, at: now)
    case 2:
      number = machine.renew(request, isPatient: chance(50), at: now)
      caller.isRenewal = true
    case 3:
      number = machine.askSystemAlone(request, at: now)
      caller.isPastCache = true
    case 4: return callForRecords(of: host, timeout)
    default:
      let isStale = if case .wait? = machine.cache.find(request, at: now)?.verdict { true } else { false }
      guard case .waiting(let waiting, _) = machine.begin(request, at: now) else {
        answered += 1
        return
      }
      if isStale { caller.staleBy = now + machine.settings.configuration.cache.clientResponseTimeout }
      number = waiting
    }
    say("  lookup \(number) for \(host), \(request.wanted), until \(caller.deadline.nanoseconds / 1_000_000) ms")
    callers[number] = caller
    if chance(10) { schedule(.leave(number), after: milliseconds(0...2000)) }
  }

  private mutating func callForRecords(of host: HostName, _ timeout: Duration?) {
    let question = DNSQuestion(name: DNSName(host), type: chance(50) ? .mx : .a)
    let number = machine.askRecords(question, timeout, at: now)
    say("  lookup \(number) for records of \(host)")
    recordCallers[number] = now + (timeout ?? machine.settings.configuration.timeout)
    if chance(20) { schedule(.leaveRecords(number), after: milliseconds(0...2000)) }
  }

  mutating func change() {
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      machine.networkDidChange(at: now)
      (blocked, replies) = ([:], [:])
    case 1:
      var changed = configuration
      changed.providers.shuffle(using: &random)
      if changed.providers.count > 1, chance(50) { changed.providers.removeLast() }
      changed.hedges = chance(50)
      if chance(30), let host = hosts.randomElement(using: &random) {
        changed.localZones.pins = [host: Sample.addresses("192.0.2.99")]
      }
      if chance(30), let host = hosts.randomElement(using: &random) { changed.localZones.suffixes = [host] }
      let before = machine.settings.configuration.localZones
      machine.update(ResolverSettings(changed, system: NoSystem()), at: now)
      for number in sent.keys { sent[number]?.isForgotten = true }
      // As the resolver does.
      for host in hosts where before.route(for: host) != changed.localZones.route(for: host) {
        machine.cache.forget(host, now: now)
      }
    case 2:
      machine.invalidate(hosts[0], at: now)
      for (number, query) in sent where query.questions.contains(where: { $0.host == hosts[0] }) {
        sent[number]?.isForgotten = true
      }
    case 3: machine.keepAlive(chance(50) ? Set(hosts.prefix(4)) : [], at: now)
    // Asleep for hours.
    case 4:
      now = now + .seconds(Int64.random(in: 1...20_000, using: &random))
      machine.timePassed(at: now)
    default: break
    }
    // Servers that went and came again are others.
    for number in blocked.keys where !machine.servers.states.all.contains(where: { $0.number.rawValue == number }) {
      (blocked[number], replies[number]) = (nil, nil)
    }
  }
}
