#!/usr/bin/env bash
# Measures the networks on the CPU and on an NVIDIA GPU, side by side: benches/gpu.md. Before, lays the CUDA parts of
# libtorch and ONNX Runtime beside the other native libraries (2.8 GB to download, 3.8 GB on disk; the driver is the
# system's own, 580 or newer), so that `target/release/engramd` uses the GPU from then on.
#
#   scripts/gpu.sh [PICTURE]      PICTURE: what to look for faces in; default: the shared recordings' six faces, else noise
set -euo pipefail
source "$(dirname "$0")/lib.sh"

# What libtorch 2.13.0 names as its needs, and ONNX Runtime 1.31.1 for the same CUDA 13.
list() {
    [ "$(uname -m)" = x86_64 ] || die "CUDA libraries are pinned for x86_64 only; a Jetson brings its own libtorch and ONNX Runtime"
    cat <<'LIST'
torch==2.13.0                    60fcdcb2f3876e21146cb4524ef06397d727ca9ad5f020818547e25075fe3cb7
onnxruntime-gpu==1.31.1          e26c475fe361b2015f45b4b824bd13f0bb20204e59b62814e6f0acd5f3d491a6
nvidia-cublas==13.1.1.3          37936a16db8fe4ac1f065c2139360608a543a09275cb1a1af612e08cfa065436
nvidia-cuda-nvrtc==13.0.88       ad9b6d2ead2435f11cbb6868809d2adeeee302e9bb94bcf0539c7a40d80e8575
nvidia-cudnn-cu13==9.20.0.48     0c45dd8eeb50b603f07995b1b300c62ffe6a1980482b82b3bcf94a4ca9d49304
nvidia-cufft==12.0.0.61          6c44f692dce8fd5ffd3e3df134b6cdb9c2f72d99cf40b62c32dde45eea9ddad3
nvidia-cufile==1.15.1.6          08a3ecefae5a01c7f5117351c64f17c7c62efa5fffdbe24fc7d298da19cd0b44
nvidia-curand==10.4.0.35         1aee33a5da6e1db083fe2b90082def8915f30f3248d5896bcec36a579d941bfc
nvidia-cusolver==12.0.4.66       0a759da5dea5c0ea10fd307de75cdeb59e7ea4fcb8add0924859b944babf1112
nvidia-cusparse==12.6.3.3        2b3c89c88d01ee0e477cb7f82ef60a11a4bcd57b6b87c33f789350b59759360b
nvidia-cusparselt-cu13==0.8.1    786ce87568c303fadb5afcc7102d454cd3040d75f6f8626f5db460d1871f4dd0
nvidia-nccl-cu13==2.29.7         edd81538446786ec3b73972543e53bb43bcaf0bfc8ef76cb679fcc390ffe136d
nvidia-nvjitlink==13.5.37        280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb
nvidia-nvshmem-cu13==3.4.5       290f0a2ee94c9f3687a02502f3b9299a9f9fe826e6d0287ee18482e78d495b80
LIST
}

make build
lib=target/native/lib
if [ "$(cat target/native/.gpu_wheels 2>/dev/null)" = "$(list)" ]; then
    say "CUDA libraries: present"
else
    downloads=target/.setup/gpu_wheels
    list | wheels "$downloads"
    say "CUDA libraries: unpacking"
    for wheel in "$downloads"/nvidia_*.whl; do
        unzip -qoj "$wheel" '*.so*' -d "$lib"
    done
    unzip -qoj "$downloads"/torch-*.whl 'torch/lib/*cuda*.so*' 'torch/lib/*nvrtc*' 'torch/lib/*nvshmem*' -d "$lib"
    unzip -qoj "$downloads"/onnxruntime_gpu-*.whl 'onnxruntime/capi/libonnxruntime*' -d "$lib"
    list > target/native/.gpu_wheels
    rm -rf "$downloads"
    say "CUDA libraries: $(du -sh "$lib" | cut -f1) in $lib"
fi
ls /proc/driver/nvidia/gpus/* > /dev/null 2>&1 || warn "no NVIDIA driver answers here: the CPU's figures follow alone"

picture=${1:-${ENGRAM_SHARED:-../shared}/recordings/faces/multiface_6.jpg}
options=(--json --set models.set=edge bench devices)
[ -f "$picture" ] && options+=(--picture "$picture")
speech=${ENGRAM_SHARED:-../shared}/recordings/audio/jfk.flac
[ -f "$speech" ] && options+=(--speech "$speech")
target/release/engramd "${options[@]}" > target/gpu.json
python3 - target/gpu.json <<'TABLE'
import json, sys
figures = json.load(open(sys.argv[1]))
print("GPU:", figures["gpu"] or "none")
print(f"{'network':24} {'on':10} {'per second':>10} {'times':>7} {'least cosine':>13}  of")
for network in figures["networks"]:
    for on in network["devices"]:
        cosine = "-" if on["least_cosine"] is None else f"{on['least_cosine']:.7f}"
        print(f"{network['id']:24} {on['id']:10} {on['per_second']:10.1f} {on['times_cpu']:7.2f} {cosine:>13}  {network['item']}")
TABLE
say "the same as JSON: target/gpu.json"
