internal import HTTPTypes

/// Sends queries: makes the request, finds the server's address, and reads the reply.
final class QuerySender: Sendable {
  typealias Reply = QueryMachine.Reply

  /// A query that can be given up.
  private enum Sent: Sendable {
    case starting
    case transfer(CurlJob?)
    case task(Task<Void, Never>)
  }

  private let transport: any HTTPTransport
  /// The transport, where it is libcurl's: it needs no task.
  private let curl: CurlTransport?
  private let clock: any ResolverClock
  private let bootstrap: Bootstrap
  private let sent = Locked<[Int: Sent]>([:])

  init(transport: any HTTPTransport, clock: any ResolverClock, bootstrap: Bootstrap) {
    self.transport = transport
    curl = transport as? CurlTransport
    self.clock = clock
    self.bootstrap = bootstrap
  }

  /// Sends a query, or says why it cannot be sent.
  ///
  /// - Parameters:
  ///   - number: by which it can be given up, if it may be.
  ///   - endpoint: the server.
  ///   - subject: what to ask.
  ///   - timeout: how long it may take, the server's own address included.
  ///   - isRaced: whether it may be given up.
  ///   - done: gets what it brought, once.
  func send(
    _ number: Int, to endpoint: EndpointState, _ subject: QueryMachine.Subject, timeout: Duration, isRaced: Bool,
    done: @escaping @Sendable (Reply) -> Void
  ) {
    let begun = clock.now
    let query = Query(provider: endpoint.configuration.provider, subject: subject)
    guard timeout > .zero else {
      return done(query.failure(ProviderFailure(.cancelled, "no time was left for it"), .timedOut, asked: begun))
    }
    guard isRaced else {
      _ = start(query, endpoint, timeout: timeout, begun: begun, done)
      return
    }
    sent.withLock { $0[number] = .starting }
    let started = start(query, endpoint, timeout: timeout, begun: begun) { [self] reply in
      sent.withLock { $0[number] = nil }
      done(reply)
    }
    // It may have ended already.
    sent.withLock { if $0[number] != nil { $0[number] = started } }
  }

  private func start(
    _ query: Query, _ endpoint: EndpointState, timeout: Duration, begun: ResolverInstant,
    _ done: @escaping @Sendable (Reply) -> Void
  ) -> Sent {
    if let target = endpoint.target, let curl {
      return .transfer(
        curl.start(query.message(at: clock.secondsSince1970), to: target, timeout: timeout) { [bootstrap] result in
          done(query.reply(result, asked: begun, noting: target, bootstrap))
        })
    }
    return .task(
      Task.immediateDetached { [self] in done(await reply(query, endpoint, timeout: timeout, begun: begun)) })
  }

  /// Gives up a query; its end is still told.
  func cancel(_ number: Int) {
    switch sent.withLock({ $0.removeValue(forKey: number) }) {
    case .transfer(let job)?: if let job { curl?.cancel(job) }
    case .task(let task)?: task.cancel()
    case .starting?, nil: break
    }
  }

  /// Over whatever transport there is, once the server's address is known.
  private func reply(
    _ query: Query, _ endpoint: EndpointState, timeout: Duration, begun: ResolverInstant
  ) async -> Reply {
    let target: HTTPEndpoint
    do throws(ProviderFailure) {
      target = try await bootstrap.endpoint(endpoint.configuration, timeout: timeout)
    } catch {
      return query.failure(error, nil, asked: begun)
    }
    // What the server's own address took is the query's time, and neither the answer's nor the server's.
    let asked = clock.now
    let left = timeout - (asked - begun)
    guard left > .zero else {
      return query.failure(ProviderFailure(.cancelled, "no time was left for it"), .timedOut, asked: asked)
    }
    let result: Result<HTTPReply, HTTPTransportError>
    do throws(HTTPTransportError) {
      result = .success(
        try await transport.send(query.message(at: clock.secondsSince1970), to: target, timeout: left))
    } catch {
      result = .failure(error)
    }
    return query.reply(result, asked: asked, noting: target, bootstrap)
  }
}

/// One query, as its server's format has it.
private struct Query: Sendable {
  let provider: any Provider
  let subject: QueryMachine.Subject

  func message(at seconds: Int64) -> HTTPMessage {
    switch subject {
    case .one(let question): provider.request(for: question, at: seconds)
    case .batch(let questions):
      (provider as? any BatchProvider)?.request(for: questions, at: seconds)
        ?? provider.request(for: questions[0], at: seconds)
    }
  }

  func failure(
    _ failure: ProviderFailure, _ error: HTTPTransportError?, asked: ResolverInstant
  ) -> QueryMachine.Reply {
    let isBatch = if case .batch = subject { true } else { false }
    return QueryMachine.Reply(failure, error, asked: asked, isBatch: isBatch)
  }

  func reply(
    _ result: Result<HTTPReply, HTTPTransportError>, asked: ResolverInstant, noting target: HTTPEndpoint,
    _ bootstrap: Bootstrap
  ) -> QueryMachine.Reply {
    switch result {
    case .success(let reply):
      return QueryMachine.Reply(
        asked: asked, reading: reading(reply), status: reply.status.code, address: reply.address)
    case .failure(let error):
      if case .connect = error { bootstrap.connectingFailed(target) }
      return failure(ProviderFailure(error), error, asked: asked)
    }
  }

  private func reading(_ reply: HTTPReply) -> QueryMachine.Reply.Reading {
    switch subject {
    case .one(let question):
      do throws(ProviderFailure) {
        return .one(.success(try provider.answer(from: reply, to: question)))
      } catch {
        return .one(.failure(error))
      }
    case .batch(let questions):
      do throws(ProviderFailure) {
        guard let provider = provider as? any BatchProvider else {
          throw ProviderFailure(.response, "takes no batches")
        }
        return .batch(.answers(try provider.answers(from: reply, to: questions)))
      } catch {
        return .batch(BatchReading(error, status: reply.status.code))
      }
    }
  }
}
