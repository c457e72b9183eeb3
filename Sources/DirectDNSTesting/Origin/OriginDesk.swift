// SPDX-License-Identifier: Apache-2.0
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Takes requests, calls the handler, and has its responses sent.
struct OriginDesk: Sendable {
  let state: Watched<OriginState>
  let handler: FakeOrigin.Handler

  /// Answers a request that was read.
  func answer(_ incoming: IncomingRequest, _ connection: ServerConnection, _ channel: any Channel) {
    let request = state.change { $0.log.record(incoming, on: connection) }
    let answer = OriginAnswer(incoming: incoming, connection: connection, channel: channel)
    perform(on: channel) { await answer.send { try await handler(request) } }
  }

  /// Asks the gatekeeper whether a request is to be read, and answers it if not.
  func judge(
    _ incoming: IncomingRequest, _ connection: ServerConnection, _ channel: any Channel,
    by admit: @escaping FakeOrigin.Gatekeeper
  ) -> EventLoopFuture<RequestCollector.Verdict> {
    let preview = state.read { $0.log.preview(incoming, on: connection) }
    let verdict = channel.eventLoop.makePromise(of: RequestCollector.Verdict.self)
    let answer = OriginAnswer(incoming: incoming, connection: connection, channel: channel, isEarly: incoming.hasBody)
    perform(on: channel) {
      let admission = await Result { try await admit(preview) }
      switch admission {
      case .success(.read): return verdict.succeed(.read(announced: true))
      case .success(.readUnannounced): return verdict.succeed(.read(announced: false))
      case .success(.answer), .failure: break
      }
      state.change { _ = $0.log.record(incoming, on: connection) }
      verdict.succeed(.discard)
      await answer.send {
        guard case .answer(let response) = try admission.get() else { throw OriginFault.close }
        return response
      }
    }
    return verdict.futureResult
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
