// av_peer FILE REPEATS [THREADS]: decodes every frame with libavformat and libavcodec, composited, in their own pixel
// format; best of REPEATS.
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include "peer.h"

static int drain(AVCodecContext *codec, AVFrame *frame) {
  int frames = 0;
  while (avcodec_receive_frame(codec, frame) == 0) frames++;
  return frames;
}

static int decode(const char *path, int threads) {
  AVFormatContext *format = 0;
  if (avformat_open_input(&format, path, 0, 0)) exit(1);
  AVCodecParameters *parameters = format->streams[0]->codecpar;
  const AVCodec *decoder = avcodec_find_decoder(parameters->codec_id);
  AVCodecContext *codec = avcodec_alloc_context3(decoder);
  avcodec_parameters_to_context(codec, parameters);
  codec->thread_count = threads;
  avcodec_open2(codec, decoder, 0);
  AVPacket *packet = av_packet_alloc();
  AVFrame *frame = av_frame_alloc();
  int frames = 0;
  while (av_read_frame(format, packet) >= 0) {
    avcodec_send_packet(codec, packet);
    frames += drain(codec, frame);
    av_packet_unref(packet);
  }
  avcodec_send_packet(codec, 0);
  frames += drain(codec, frame);
  av_frame_free(&frame);
  av_packet_free(&packet);
  avcodec_free_context(&codec);
  avformat_close_input(&format);
  return frames;
}

int main(int count, char **words) {
  if (count < 2) return 2;
  int repeats = count > 2 ? atoi(words[2]) : 3, threads = count > 3 ? atoi(words[3]) : 1, frames = 0;
  double best = 1e9;
  av_log_set_level(AV_LOG_QUIET);
  for (int run = 0; run < repeats; run++) {
    double start = seconds();
    frames = decode(words[1], threads);
    double time = seconds() - start;
    if (time < best) best = time;
  }
  report(frames, best);
  return 0;
}
