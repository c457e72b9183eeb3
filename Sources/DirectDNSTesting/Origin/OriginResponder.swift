// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Takes requests, calls the handler, and has its responses sent.
struct OriginResponder: Sendable {
  let state: Watched<OriginState>
  let handler: FakeOrigin.Handler

  /// Answers a request that was read.
  func answer(_ incoming: IncomingRequest, _ connection: ServerConnection, _ channel: any Channel) {
    let request = state.change { $0.log.record(incoming, on: connection) }
    let answer = OriginAnswer(incoming: incoming, connection: connection, channel: channel)
    perform(on: channel) { await answer.send { try await handler(request) } }
  }

  /// Asks the gatekeeper whether a request is to be read, and answers it if not.
  func admit(
    _ incoming: IncomingRequest, _ connection: ServerConnection, _ channel: any Channel,
    by gatekeeper: @escaping FakeOrigin.Gatekeeper
  ) -> EventLoopFuture<RequestCollector.Decision> {
    let preview = state.read { $0.log.preview(incoming, on: connection) }
    let decision = channel.eventLoop.makePromise(of: RequestCollector.Decision.self)
    let answer = OriginAnswer(incoming: incoming, connection: connection, channel: channel, isEarly: incoming.hasBody)
    perform(on: channel) {
      let admission = await Result { try await gatekeeper(preview) }
      switch admission {
      case .success(.read): return decision.succeed(.read(announced: true))
      case .success(.readUnannounced): return decision.succeed(.read(announced: false))
      case .success(.answer), .failure: break
      }
      state.change { _ = $0.log.record(incoming, on: connection) }
      decision.succeed(.discard)
      await answer.send {
        guard case .answer(let response) = try admission.get() else { throw OriginFault.close }
        return response
      }
    }
    return decision.futureResult
  }

  /// Runs a task until the client disconnects.
  private func perform(on channel: any Channel, _ body: @escaping @Sendable () async -> Void) {
    let task = Task { await body() }
    channel.closeFuture.whenComplete { _ in task.cancel() }
  }
}

/// The state of a fake origin.
struct OriginState: ServerState {
  var log = ServerLog()
}

extension Result where Failure == any Error {
  fileprivate init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}
