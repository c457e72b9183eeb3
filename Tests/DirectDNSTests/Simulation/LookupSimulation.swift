@testable import DirectDNS

/// A made-up world around the lookups' machine, out of one seed.
///
/// Its servers are slow, dead, lying or busy, its callers come and leave, there is a store and a fleet, and the clock
/// jumps. It has no thread, no task and no time of its own.
struct LookupSimulation {
  /// What the world finds wrong with the machine.
  struct Fault: Error, CustomStringConvertible {
    var description: String
  }

  /// How a server behaves for a while.
  private enum Mood: CaseIterable { case fine, slow, silent, refusing, broken, busy, malformed, failing, empty }

  private struct Caller {
    var request: LookupRequest
    var deadline: ResolverInstant
    /// Whether the cache does not count for it.
    var isPastCache = false
  }

  private struct Sent {
    var endpoint: Int
    var questions: [AddressQuestion]
    var isBatch: Bool
    var asked: ResolverInstant
    /// Whether nobody wants it any more.
    var isCancelled = false
  }

  private enum Event {
    case call, leave(Int), mood, change
    case reply(Int, QueryMachine.Reply)
    case system(Int, Result<Answer, ProviderFailure>)
    case store(Int, StoreReading<CacheEntry>)
    case lease(Int, StoreLink.LeaseState)
  }

  private let seed: UInt64
  private var random: SeededGenerator
  private var machine: LookupMachine
  private var configuration: ResolverConfiguration
  private var now = ResolverInstant(nanoseconds: 0)
  private var events: [(at: ResolverInstant, number: Int, event: Event)] = []
  private var count = 0
  private let system: NoSystem
  private let hosts: [HostName]

  private var moods: [Mood] = []
  private var systemMood = Mood.fine
  private var callers: [Int: Caller] = [:]
  private var sent: [Int: Sent] = [:]
  /// Until when a server wants to be left alone, by its number.
  private var blocked: [Int: ResolverInstant] = [:]
  private(set) var answered = 0
  private(set) var queries = 0
  private(set) var steps = 0
  private var isShutDown = false
  /// Whether only what is under way goes on.
  private var isEnding = false

  /// The system's DNS as the machine names it; the world answers for it.
  private struct NoSystem: SystemSource {
    func answer(
      to host: HostName, family: IPAddress.Family, timeout: Duration
    ) async throws(ProviderFailure) -> Answer {
      throw ProviderFailure(.transport, "only the simulation answers")
    }
  }

  init(seed: UInt64) {
    self.seed = seed
    var random = SeededGenerator(seed: seed)
    let serverCount = Int.random(in: 1...4, using: &random)
    hosts = (0..<Int.random(in: 1...12, using: &random)).map { Sample.name("n\($0).example") }
    var configuration = ResolverFixture.configuration((0..<serverCount).map { "server\($0)" })
    configuration.hedges = .random(using: &random)
    configuration.usesSystemDNS = .random(using: &random)
    // Room for all: which name has to go depends on a hash that every process seeds anew.
    configuration.capacity = hosts.count + 1
    configuration.families = [.any, .ipv4, .ipv6].randomElement(using: &random) ?? .any
    configuration.cache.refreshesAhead = .random(using: &random)
    if Int.random(in: 0..<4, using: &random) == 0 {
      configuration.providers[0].rateLimit = RateLimit(perSecond: 5, burst: 2)
    }
    let hasStore = Bool.random(using: &random)
    let hasLeases = hasStore && Bool.random(using: &random)
    system = NoSystem()
    let cache = AnswerCache(policy: configuration.cache, capacity: configuration.capacity)
    let sources = SourceNames()
    for provider in configuration.providers { _ = sources.code(ofProvider: provider.provider.name) }
    machine = LookupMachine(
      ResolverSettings(configuration, system: system),
      known: KnownAnswers(cache: cache, sources: sources), hasStore: hasStore,
      hasLeases: hasLeases, seed: seed, at: now)
    moods = configuration.providers.map { _ in Mood.fine }
    self.configuration = configuration
    self.random = random
  }

  /// Runs for so many simulated seconds, then ends the resolver and looks at what is left.
  mutating func run(seconds: Int) throws(Fault) {
    let end = now + .seconds(Int64(seconds))
    schedule(.call, after: .zero)
    schedule(.mood, after: .zero)
    schedule(.change, after: milliseconds(0...60_000))
    while now < end { try step() }
    // Half of the worlds end in the middle of things, the others when all is done.
    if Bool.random(using: &random) {
      isShutDown = true
      machine.shutDown(at: now)
      try perform()
    } else {
      machine.keepAlive([], at: now)
      try perform()
    }
    isEnding = true
    let last = now + .seconds(120)
    while now < last, machine.queryCount + machine.lookupCount > 0 { try step() }
    try expect(callers.isEmpty, "\(callers.count) callers were never answered")
    try expect(machine.lookupCount == 0, "\(machine.lookupCount) lookups are left")
    try expect(machine.queryCount == 0, "\(machine.queryCount) questions are left")
    try expect(machine.nextInstant() == nil, "it wants to be woken for nothing")
  }

  // MARK: Time

  private mutating func step() throws(Fault) {
    steps += 1
    let next = events.indices.min { (events[$0].at, events[$0].number) < (events[$1].at, events[$1].number) }
    let wake = machine.nextInstant()
    if let wake, next.map({ wake < events[$0].at }) ?? true {
      now = max(now, wake)
      machine.timePassed(at: now)
      try expect(machine.nextInstant().map { $0 > now } ?? true, "it wants to be woken for what was due")
    } else if let next {
      let event = events.remove(at: next)
      now = max(now, event.at)
      try happen(event.event)
    } else {
      now = now + .seconds(1)
    }
    try perform()
    for (number, caller) in callers where caller.deadline < now {
      throw fault("caller \(number) for \(caller.request.host) waits beyond its deadline")
    }
  }

  private mutating func schedule(_ event: Event, after delay: Duration) {
    count += 1
    events.append((now + delay, count, event))
  }

  private mutating func milliseconds(_ range: ClosedRange<Int>) -> Duration {
    .milliseconds(Int.random(in: range, using: &random))
  }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  // MARK: What happens

  private mutating func happen(_ event: Event) throws(Fault) {
    switch event {
    case .call, .change, .mood: if isEnding { return }
    default: break
    }
    switch event {
    case .call:
      call()
      if !isShutDown { schedule(.call, after: chance(10) ? milliseconds(0...40_000) : milliseconds(0...300)) }
    case .leave(let number): machine.cancel(number, at: now)
    case .mood:
      for server in moods.indices where chance(40) {
        moods[server] = Mood.allCases.randomElement(using: &random) ?? .fine
      }
      systemMood = chance(70) ? .fine : .failing
      schedule(.mood, after: milliseconds(0...20_000))
    case .change:
      change()
      schedule(.change, after: milliseconds(0...60_000))
    case .reply(let number, let reply):
      if let query = sent.removeValue(forKey: number), reply.status == 429, !query.isBatch {
        blocked[query.endpoint] = now + .seconds(5)
      }
      machine.ended(number, reply, at: now)
      // Whatever comes twice counts once.
      if chance(5) { machine.ended(number, reply, at: now) }
    case .system(let number, let result):
      machine.systemAnswered(number, result, at: now)
      if chance(5) { machine.systemAnswered(number, result, at: now) }
    case .store(let number, let reading): machine.storeRead(number, reading, at: now)
    case .lease(let number, let state): machine.leaseTaken(number, state, at: now)
    }
  }

  private mutating func call() {
    let host = hosts.randomElement(using: &random) ?? ResolverFixture.host
    let timeout: Duration? = chance(30) ? milliseconds(1...8000) : nil
    let request = LookupRequest(
      host: host, wanted: [.any, .ipv4, .ipv6].randomElement(using: &random) ?? .any, route: .providers,
      expired: ExpiredUse.allCases.randomElement(using: &random) ?? .allowed, timeout: timeout,
      purpose: chance(50) ? .handingOut : .connecting, prefersIPv6: chance(50))
    let deadline = now + (timeout ?? machine.settings.configuration.timeout)
    let number: Int
    var isPastCache = false
    switch Int.random(in: 0..<10, using: &random) {
    case 0:
      machine.refreshBehind(request, at: now)
      return
    case 1:
      machine.askTogether(Array(hosts.prefix(3)), request.wanted, at: now)
      return
    case 2: number = machine.renew(request, isPatient: chance(50), at: now)
    case 3:
      number = machine.askSystemAlone(request, at: now)
      isPastCache = true
    default:
      guard case .waiting(let waiting, _) = machine.begin(request, at: now) else {
        answered += 1
        return
      }
      number = waiting
    }
    callers[number] = Caller(request: request, deadline: deadline, isPastCache: isPastCache)
    if chance(10) { schedule(.leave(number), after: milliseconds(0...2000)) }
  }

  private mutating func change() {
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      machine.networkDidChange(at: now)
      blocked = [:]
    case 1:
      var changed = configuration
      changed.providers.shuffle(using: &random)
      if changed.providers.count > 1, chance(50) { changed.providers.removeLast() }
      changed.hedges = chance(50)
      machine.update(ResolverSettings(changed, system: system), at: now)
    case 2: machine.invalidate(hosts[0], at: now)
    case 3: machine.keepAlive(chance(50) ? Set(hosts.prefix(4)) : [], at: now)
    // Asleep for hours.
    case 4:
      now = now + .seconds(Int64.random(in: 1...20_000, using: &random))
      machine.timePassed(at: now)
    default: break
    }
    // Servers that went and came again are others.
    for number in blocked.keys where !machine.servers.states.endpoints.contains(where: { $0.number == number }) {
      blocked[number] = nil
    }
  }

  // MARK: What the machine wants done

  private mutating func perform() throws(Fault) {
    while true {
      let actions = machine.takeActions()
      if actions.isEmpty { break }
      for action in actions { try perform(action) }
    }
    for case .answer(let number, let result, _) in machine.takeEndings() {
      guard let caller = callers.removeValue(forKey: number) else {
        throw fault("lookup \(number) was answered twice, or nobody waits for it")
      }
      answered += 1
      try check(caller, result)
    }
  }

  private mutating func perform(_ action: LookupMachine.Action) throws(Fault) {
    switch action {
    case .query(.send(let number, let endpoint, let subject, let timeout, _)):
      try send(number, endpoint, subject, timeout)
    case .query(.cancel(let number)):
      guard let query = sent[number] else { return }
      sent[number]?.isCancelled = true
      events.removeAll { if case .reply(number, _) = $0.event { true } else { false } }
      let reply = QueryMachine.Reply(
        ProviderFailure(.cancelled, "cancelled"), .cancelled, asked: query.asked, isBatch: query.isBatch)
      schedule(.reply(number, reply), after: milliseconds(0...50))
    case .query: break
    case .askSystem(let number, let question, _, let timeout):
      let isFine = systemMood == .fine
      schedule(
        .system(
          number,
          isFine ? .success(answer(to: question)) : .failure(ProviderFailure(.transport, "no name server"))),
        after: min(timeout, milliseconds(0...1500)))
    case .readStore(let number, let question): schedule(.store(number, stored(question)), after: milliseconds(0...60))
    case .takeLease(let number, let question, _):
      let lease = StoreLink.Lease(question: question, holder: "\(number)")
      let state: StoreLink.LeaseState = chance(60) ? .taken(lease) : chance(70) ? .held : .unavailable
      schedule(.lease(number, state), after: milliseconds(0...60))
    case .endLease, .writeStore, .tell: break
    }
  }

  private mutating func send(
    _ number: Int, _ endpoint: Endpoint, _ subject: QueryMachine.Subject, _ timeout: Duration
  ) throws(Fault) {
    queries += 1
    try expect(!isShutDown, "a query was sent after the end")
    try expect(timeout > .zero, "a query was sent without time")
    if let until = blocked[endpoint.number] {
      try expect(now >= until, "server \(endpoint.number) was asked although it said 429")
    }
    let isBatch = if case .batch = subject { true } else { false }
    for question in subject.questions {
      let same = sent.values.filter {
        !$0.isCancelled && $0.endpoint == endpoint.number && $0.questions.contains(question)
      }
      try expect(same.isEmpty, "\(question) was asked of server \(endpoint.number) twice at a time")
      let all = sent.values.count { !$0.isCancelled && $0.questions.contains(question) }
      try expect(all < 4, "\(question) is asked of \(all + 1) servers at a time")
    }
    sent[number] = Sent(endpoint: endpoint.number, questions: subject.questions, isBatch: isBatch, asked: now)
    let (delay, reply) = reply(to: subject.questions[0], from: endpoint.number, isBatch: isBatch)
    if delay < timeout {
      schedule(.reply(number, reply), after: delay)
    } else {
      let late = QueryMachine.Reply(
        ProviderFailure(HTTPTransportError.timedOut), .timedOut, asked: now, isBatch: isBatch)
      schedule(.reply(number, late), after: timeout)
    }
  }

  private mutating func reply(
    to question: AddressQuestion, from server: Int, isBatch: Bool
  ) -> (Duration, QueryMachine.Reply) {
    func failed(_ kind: ProviderFailure.Kind, _ error: HTTPTransportError?, _ status: Int?) -> QueryMachine.Reply {
      var reply = QueryMachine.Reply(ProviderFailure(kind, "so it goes"), error, asked: now, isBatch: isBatch)
      reply.status = status
      return reply
    }
    let mood = moods[server % moods.count]
    switch mood {
    case .fine, .slow, .empty:
      let answer =
        mood == .empty
        ? Answer.negative(chance(50) ? .nameNotFound : .noAddress, ttl: chance(50) ? 5 : nil) : answer(to: question)
      let reply = QueryMachine.Reply(asked: now, reading: .one(.success(answer)), status: 200)
      return (mood == .slow ? milliseconds(100...6000) : milliseconds(0...40), reply)
    case .silent: return (.seconds(3600), failed(.transport, .timedOut, nil))
    case .refusing: return (milliseconds(0...5), failed(.transport, .connect("refused"), nil))
    case .broken: return (milliseconds(0...50), failed(.transport, nil, 500))
    case .busy: return (milliseconds(0...20), failed(.rateLimited(retryAfter: .seconds(5)), nil, 429))
    case .malformed: return (milliseconds(0...50), failed(.transport, nil, 200))
    case .failing: return (milliseconds(0...50), failed(.response, nil, 200))
    }
  }

  private mutating func answer(to question: AddressQuestion) -> Answer {
    let lifetimes: [UInt32] = [0, 1, 30, 300, 86_400]
    let ttl = lifetimes.randomElement(using: &random) ?? 60
    let count = Int.random(in: 1...3, using: &random)
    return Answer(
      .addresses(
        (0..<count).map { number in
          question.family == .ipv4
            ? .ipv4(0xC000_0200 + UInt32(number)) : .ipv6(high: 0x2001_0db8 << 32, low: UInt64(number))
        }), ttl: ttl)
  }

  private mutating func stored(_ question: AddressQuestion) -> StoreReading<CacheEntry> {
    if chance(10) { return .unavailable }
    guard chance(30) else { return .nothing }
    let age = Int64.random(in: 0...4000, using: &random)
    let asked = now - .seconds(age)
    return .found(
      CacheEntry(
        content: answer(to: question).content, canonicalName: nil, source: SourceNames.store,
        life: CacheLife(askedAt: asked.nanoseconds, expireAt: (asked + .seconds(300)).nanoseconds)))
  }

  // MARK: What must hold

  private func check(_ caller: Caller, _ result: Result<Resolution, DirectDNSError>) throws(Fault) {
    let request = caller.request
    switch result {
    case .success(let resolution):
      try expect(!resolution.addresses.isEmpty, "an answer without addresses")
      for address in resolution.addresses {
        try expect(request.wanted.contains(AddressFamilies(address.family)), "\(address) was not asked for")
      }
      try expect(
        request.expired != .refused || resolution.freshness <= .due, "an expired answer for a caller who refuses them")
    case .failure(let error):
      guard !caller.isPastCache, error.code == .upstreamFailed || error.code == .timedOut else { return }
      let known = machine.known.settle(
        request.host, request.wanted, request.expired, prefersIPv6: request.prefersIPv6, at: now)
      try expect(
        known?.resolution == nil, "\(request.host) failed although its answer may be used: \(error.message)")
    }
  }

  private func expect(_ holds: Bool, _ text: @autoclosure () -> String) throws(Fault) {
    if !holds { throw fault(text()) }
  }

  private func fault(_ text: String) -> Fault {
    Fault(description: "seed \(seed), after \(steps) steps, at \(now.nanoseconds / 1_000_000) ms: \(text)")
  }
}
