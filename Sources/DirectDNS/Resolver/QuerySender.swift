// SPDX-License-Identifier: Apache-2.0
internal import HTTPTypes

/// Gets the replies to queries.
protocol QueryRecipient: AnyObject, Sendable {
  /// Queries have ended; there may be several at once.
  func ended(_ replies: [QueryReply])
}

/// The end of a query, and the number that it was sent under.
struct QueryReply: Sendable {
  var number: QueryMachine.QueryNumber
  var reply: QueryMachine.Reply
}

/// Sends queries: finds the server's address, makes the request, and parses the reply.
final class QuerySender: CurlRecipient {
  /// A query that is under way.
  private enum Sent: Sendable {
    case starting
    case transfer(CurlQuery, Query)
    case task(Task<Void, Never>)
  }

  private let transport: any HTTPTransport
  /// The transport, if it is libcurl's, which needs no task for each query.
  private let curl: CurlTransport?
  private let clock: any ResolverClock
  private let bootstrap: Bootstrap
  private let sent = Locked(NumberTable<QueryMachine.Query, Sent>())

  init(transport: any HTTPTransport, clock: any ResolverClock, bootstrap: Bootstrap) {
    self.transport = transport
    curl = transport as? CurlTransport
    self.clock = clock
    self.bootstrap = bootstrap
  }

  /// Sends a query.
  ///
  /// - Parameters:
  ///   - number: the number of the query, by which it can be cancelled.
  ///   - server: the server.
  ///   - subject: what to ask.
  ///   - timeout: how long it may take, including the lookup of the server's own address.
  ///   - recipient: gets its end, once, also if it cannot be sent.
  func send(
    _ number: QueryMachine.QueryNumber, to server: DNSServer, _ subject: QueryMachine.Subject, timeout: Duration,
    for recipient: any QueryRecipient
  ) {
    let begun = clock.now
    let query = Query(number, server, subject, begun: begun, for: recipient)
    guard timeout > .zero else { return recipient.ended([query.failure(.noTimeLeft, .timedOut, asked: begun)]) }
    if let curl, let target = server.target {
      send(query, by: curl, to: target, timeout: timeout)
    } else {
      send(query, timeout: timeout)
    }
  }

  private func send(_ query: Query, by curl: CurlTransport, to target: HTTPEndpoint, timeout: Duration) {
    guard let message = query.message(at: clock.secondsSince1970) else {
      return query.recipient.ended([query.failure(.notCarried, nil, asked: query.begun)])
    }
    do throws(HTTPTransportError) {
      let request = try curl.request(message, target, timeout)
      let transfer = CurlQuery(request, number: query.number.rawValue, for: self)
      sent.withLock { $0[query.number] = .transfer(transfer, query) }
      curl.start(transfer)
    } catch {
      query.recipient.ended([query.reply(.failure(error), asked: query.begun, noting: target, bootstrap)])
    }
  }

  private func send(_ query: Query, timeout: Duration) {
    sent.withLock { $0[query.number] = .starting }
    let task = Task.detached(calling: transport) { [self] in
      let reply = await reply(query, timeout: timeout)
      sent.withLock { $0[query.number] = nil }
      query.recipient.ended([reply])
    }
    // If it has not ended already, which has removed it.
    sent.withLock { if $0[query.number] != nil { $0[query.number] = .task(task) } }
  }

  /// Gets ended queries back from libcurl's loop.
  func receive(_ transfers: ArraySlice<CurlQuery>) {
    var replies: [QueryReply] = []
    replies.reserveCapacity(transfers.count)
    var recipient: (any QueryRecipient)?
    for transfer in transfers {
      let number = QueryMachine.QueryNumber(rawValue: transfer.number)
      guard case .transfer(_, let query)? = sent.withLock({ $0.removeValue(forKey: number) }) else { continue }
      replies.append(query.reply(transfer.takeResult(), asked: query.begun, noting: query.server.target, bootstrap))
      if recipient == nil { recipient = query.recipient }
    }
    recipient?.ended(replies)
  }

  /// Cancels a query; its end is still reported.
  func cancel(_ number: QueryMachine.QueryNumber) {
    // Not removed: that is done when it has ended.
    switch sent.withLock({ $0[number] }) {
    case .transfer(let transfer, _)?: curl?.cancel(transfer)
    case .task(let task)?: task.cancel()
    case .starting?, nil: break
    }
  }

  /// Sends a query over any transport, and waits for its end; looks up the server's own address first.
  private func reply(_ query: Query, timeout: Duration) async -> QueryReply {
    let target: HTTPEndpoint
    do throws(ProviderFailure) {
      target = try await bootstrap.endpoint(query.server.configuration, timeout: timeout)
    } catch {
      return query.failure(error, error == .noTimeLeft ? .timedOut : nil, asked: query.begun)
    }
    // The lookup of the server's own address is part of the query's time, but not of the answer's age or the server's
    // time.
    let asked = clock.now
    let left = timeout - (asked - query.begun)
    guard left > .zero else { return query.failure(.noTimeLeft, .timedOut, asked: asked) }
    guard let message = query.message(at: clock.secondsSince1970) else {
      return query.failure(.notCarried, nil, asked: asked)
    }
    let result: Result<HTTPReply, HTTPTransportError>
    do throws(HTTPTransportError) {
      result = .success(try await transport.send(message, to: target, timeout: left))
    } catch {
      result = .failure(error)
    }
    return query.reply(result, asked: asked, noting: target, bootstrap)
  }
}

/// One query on its way, which knows its server's format.
private final class Query: Sendable {
  let number: QueryMachine.QueryNumber
  let server: DNSServer
  let subject: QueryMachine.Subject
  let begun: ResolverInstant
  /// Gets its end.
  let recipient: any QueryRecipient

  init(
    _ number: QueryMachine.QueryNumber, _ server: DNSServer, _ subject: QueryMachine.Subject, begun: ResolverInstant,
    for recipient: any QueryRecipient
  ) {
    self.number = number
    self.server = server
    self.subject = subject
    self.begun = begun
    self.recipient = recipient
  }

  private var provider: any Provider { server.configuration.provider }

  /// The request; nil if the server's format has none for such a question.
  func message(at seconds: Int64) -> HTTPMessage? {
    switch subject {
    case .one(let question): provider.request(for: question, at: seconds)
    case .batch(let questions): (provider as? any BatchProvider)?.request(for: questions, at: seconds)
    case .records(let question): provider.request(forRecords: question, at: seconds)
    }
  }

  func failure(
    _ failure: ProviderFailure, _ error: HTTPTransportError?, asked: ResolverInstant
  ) -> QueryReply {
    QueryReply(number: number, reply: .init(failure, error, asked: asked, to: subject))
  }

  func reply(
    _ result: Result<HTTPReply, HTTPTransportError>, asked: ResolverInstant,
    noting target: @autoclosure () -> HTTPEndpoint?, _ bootstrap: Bootstrap
  ) -> QueryReply {
    switch result {
    case .success(let reply):
      return QueryReply(
        number: number,
        reply: .init(asked: asked, reading: reading(reply), status: reply.status.code, address: reply.address))
    case .failure(let error):
      if error.mayBeTheAddress, let target = target() { bootstrap.connectingFailed(target) }
      return failure(ProviderFailure(error), error, asked: asked)
    }
  }

  private func reading(_ reply: HTTPReply) -> QueryMachine.Reply.Reading {
    switch subject {
    case .one(let question):
      return .one(
        Result { () throws(ProviderFailure) in
          // A caller's own format may say anything.
          try provider.answer(from: reply, to: question).fitting(question).get()
        })
    case .records(let question):
      return .records(Result { () throws(ProviderFailure) in try provider.records(of: question, in: reply) })
    case .batch(let questions):
      let provider = provider as? any BatchProvider
      do throws(ProviderFailure) {
        guard let provider else { throw .notCarried }
        return .batch(.answers(try provider.answers(from: reply, to: questions)))
      } catch {
        return .batch(
          BatchReading(error, status: reply.status.code, isRefusal: provider?.refusesBatch(reply) == true))
      }
    }
  }
}
