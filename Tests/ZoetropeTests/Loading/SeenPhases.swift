import Zoetrope

/// The phases that one load went through; runs of equal names count once.
struct SeenPhases: Sendable {
  var names: [String] = []
  var fractions: [Double] = []
  var posters: [Bitmap] = []
  var poster: Bitmap? { posters.last }
  var scheduler: FrameScheduler?
  var error: AnimatedImageError?
}

/// Returns the phases of `phases` once the load has ended.
func collect(_ phases: AsyncStream<LoadingPhase>) async -> SeenPhases {
  var seen = SeenPhases()
  for await phase in phases {
    if seen.names.last != phase.name { seen.names.append(phase.name) }
    switch phase {
    case .loading(let fraction): if let fraction { seen.fractions.append(fraction) }
    case .poster(let bitmap): seen.posters.append(bitmap)
    case .playing(let scheduler): seen.scheduler = scheduler
    case .failed(let error): seen.error = error
    }
  }
  return seen
}

extension LoadingPhase {
  var name: String {
    switch self {
    case .loading: "loading"
    case .poster: "poster"
    case .playing: "playing"
    case .failed: "failed"
    }
  }
}
